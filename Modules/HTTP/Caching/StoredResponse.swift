public import FoundationEssentials

/// An answer in a response cache, with what its reuse is decided from. Source: RFC 9111 sections 3 and 4.
public struct StoredResponse: Sendable, Hashable {
    /// Without the fields that are not stored (section 3.1), and without `Age`, which each use has its own of.
    public var head: HTTPResponseHead
    /// The bytes of the content, or of the part of it that is stored.
    public var body: Data
    /// Which bytes `body` is; nil for all of them.
    package var part: ContentPart?
    /// The fields of the request that the answer's `Vary` names, and those it varies by without saying so, normalised.
    package var varyingFields: HTTPFields
    /// When the request was sent.
    package var requestTime: Date
    /// When the answer's head arrived, or that of the last answer that confirmed it.
    public var responseTime: Date
    /// On what terms it may be used again.
    package var terms: Freshness
    /// Where it may be kept.
    public var storagePolicy: ResponseStoragePolicy
    /// Notes of the app, which its hook may add.
    public var userInfo: [String: String]

    /// An answer to keep; by default whole, for all requests, anywhere, without notes.
    package init(
        head: HTTPResponseHead, body: Data, part: ContentPart? = nil, varyingFields: HTTPFields = [:],
        requestTime: Date, responseTime: Date, terms: Freshness,
        storagePolicy: ResponseStoragePolicy = .allowed, userInfo: [String: String] = [:]
    ) {
        self.head = head
        self.body = body
        self.part = part
        self.varyingFields = varyingFields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.terms = terms
        self.storagePolicy = storagePolicy
        self.userInfo = userInfo
    }
}

/// Which bytes of the whole content a stored body is.
package struct ContentPart: Sendable, Hashable {
    /// Of the body's first byte in the whole.
    package var offset: Int
    /// Bytes of the whole; nil when the server did not say.
    package var completeCount: Int?

    /// A part that begins at a byte; the size of the whole is nil where nobody has said it.
    package init(offset: Int, completeCount: Int?) {
        self.offset = offset
        self.completeCount = completeCount
    }
}

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
