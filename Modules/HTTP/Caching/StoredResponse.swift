public import FoundationEssentials

/// A response in a response cache, with the data that determines its reuse. Source: RFC 9111 sections 3 and 4.
public struct StoredResponse: Sendable, Hashable {
    /// The head, without the fields that are not stored (section 3.1) and without `Age`, which is calculated for each
    /// use.
    public var head: HTTPResponseHead
    /// The bytes of the content, or of the stored part of it.
    public var body: Data
    /// The part of the content that `body` holds; nil if `body` holds the whole content.
    package var part: ContentPart?
    /// The request fields by which the response varies: those that its `Vary` field names, and those that the cache
    /// adds. Their values are normalized, and digests for all fields that may hold a secret.
    package var varyingFields: HTTPFields
    /// The time at which the request for this response was sent, or the last request that validated it.
    public package(set) var requestTime: Date
    /// The time at which the head of this response arrived, or the head of the last response that validated it.
    public package(set) var responseTime: Date
    /// The conditions under which the response may be reused.
    package var terms: Freshness
    /// The policy for storing the response in memory and on disk.
    public var storagePolicy: ResponseStoragePolicy
    /// Custom metadata of the response, which the app's storage hook may add.
    public var userInfo: [String: String]

    /// Creates a response to store. By default it is complete, serves all requests, may be stored anywhere and has no
    /// user info.
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

/// The part of the content that the body of a stored response holds.
package struct ContentPart: Sendable, Hashable {
    /// The offset of the body's first byte in the whole content.
    package var offset: Int
    /// The number of bytes of the whole content; nil if the server did not specify it.
    package var completeCount: Int?

    /// Creates a part that starts at an offset. The size of the whole content is nil if it is unknown.
    package init(offset: Int, completeCount: Int?) {
        self.offset = offset
        self.completeCount = completeCount
    }
}
