/// What a response store keeps under one key.
public enum ResponseEntry: Sendable, Hashable {
    /// An answer.
    case response(StoredResponse)
    /// Under the resource's own key, when its answers vary.
    case variants(ResponseVariants)
}

/// Says where the answers for a resource are whose `Vary` makes them answers for some requests only.
///
/// The variants themselves are entries of their own, so a look-up costs the number of different `Vary` fields that the
/// server has sent for the resource, not the number of variants. Source: RFC 9111 section 4.1.
public struct ResponseVariants: Sendable, Hashable {
    /// A variant that has a validator, which the server may be asked about when no variant fits a request.
    package struct Tagged: Sendable, Hashable {
        /// The variant's part of the key.
        package var variant: String
        /// Its validator, as the server wrote it.
        package var entityTag: String

        /// A variant and its validator.
        package init(variant: String, entityTag: String) {
            self.variant = variant
            self.entityTag = entityTag
        }
    }

    /// The lists of field names that answers varied by, in lower case and sorted; the newest first. An empty one is that
    /// of an answer for all requests.
    package var nameLists: [[String]]
    /// The variants that were stored last; the newest first.
    package var tagged: [Tagged]

    /// What is known of a resource's variants; by default nothing.
    package init(nameLists: [[String]] = [], tagged: [Tagged] = []) {
        self.nameLists = nameLists
        self.tagged = tagged
    }
}
