/// The entry of a response store under one key.
public enum ResponseEntry: Sendable, Hashable {
    /// A response.
    case response(StoredResponse)
    /// The variants of a resource whose responses vary. Stored under the resource's own key.
    case variants(ResponseVariants)
}

/// The variants of a resource whose responses depend on request fields, usually because they have a `Vary` field.
///
/// The responses themselves are separate entries. The cost of a lookup therefore grows with the number of different
/// lists of field names, not with the number of variants. Source: RFC 9111 section 4.1.
public struct ResponseVariants: Sendable, Hashable {
    /// A variant with an entity tag. The tag is offered to the server when no variant matches a request.
    package struct Tagged: Sendable, Hashable {
        /// The variant part of the key.
        package var variant: String
        /// The entity tag as the server wrote it.
        package var entityTag: String

        package init(variant: String, entityTag: String) {
            self.variant = variant
            self.entityTag = entityTag
        }
    }

    /// The lists of field names by which responses varied; the newest list first. The names in a list are in lower case
    /// and sorted. An empty list belongs to a response for all requests.
    package var nameLists: [[String]]
    /// The most recently stored variants that have an entity tag and vary only by the preferences of requests; the
    /// newest first.
    package var tagged: [Tagged]

    /// Creates the variants of a resource; by default none.
    package init(nameLists: [[String]] = [], tagged: [Tagged] = []) {
        self.nameLists = nameLists
        self.tagged = tagged
    }
}
