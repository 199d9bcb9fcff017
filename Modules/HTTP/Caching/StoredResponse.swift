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
