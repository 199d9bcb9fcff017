/// Where a transport notes what an exchange took, for whoever holds the answer.
public final class HTTPTransferRecord: Sendable {
    private let noted = Locked<HTTPTransferMetrics?>(nil)

    /// Nothing noted yet.
    public init() {}

    /// Nil until the body has ended, in whatever way; what is here then is final.
    public var metrics: HTTPTransferMetrics? { noted.withLock { $0 } }

    /// Notes how it went. Called by the transport before the reader learns of the end; only the first call counts.
    public func finish(_ metrics: HTTPTransferMetrics) {
        noted.withLock { noted in
            if noted == nil { noted = metrics }
        }
    }
}
