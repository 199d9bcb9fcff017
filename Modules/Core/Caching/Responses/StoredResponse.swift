public import FoundationEssentials

/// An answer in a response cache, with what its reuse is decided from. Source: RFC 9111 sections 3 and 4.
public struct StoredResponse: Sendable, Hashable {
    /// Without the fields that are not stored (section 3.1), and without `Age`, which each use has its own of.
    public var head: HTTPResponseHead
    /// The bytes of the content, or of the part that ``part`` names.
    public var body: Data
    /// Which bytes `body` is; nil for all of them.
    public var part: ContentPart?
    /// The fields of the request that the answer's `Vary` names, and those it varies by without saying so, normalised.
    public var varyingFields: HTTPFields
    /// When the request was sent.
    public var requestTime: Date
    /// When the answer's head arrived, or that of the last answer that confirmed it.
    public var responseTime: Date
    /// On what terms it may be used again.
    public var terms: ReuseTerms
    /// Where it may be kept.
    public var storagePolicy: ResponseStoragePolicy
    /// Notes of the app, which its hook may add.
    public var userInfo: [String: String]

    /// An answer to keep; by default whole, for all requests, anywhere, without notes.
    public init(
        head: HTTPResponseHead, body: Data, part: ContentPart? = nil, varyingFields: HTTPFields = [:],
        requestTime: Date, responseTime: Date, terms: ReuseTerms,
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
