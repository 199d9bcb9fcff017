public import FoundationEssentials

/// An answer in a response cache, with what its freshness is computed from. Source: RFC 9111 sections 3 and 4.
public struct StoredResponse: Sendable, Hashable {
    public var head: HTTPResponseHead
    public var body: Data
    /// The fields of the request that the answer's `Vary` names.
    public var varyingFields: HTTPFields
    /// When the request was sent.
    public var requestTime: Date
    /// When the answer's head arrived.
    public var responseTime: Date

    public init(
        head: HTTPResponseHead, body: Data, varyingFields: HTTPFields, requestTime: Date, responseTime: Date
    ) {
        self.head = head
        self.body = body
        self.varyingFields = varyingFields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
