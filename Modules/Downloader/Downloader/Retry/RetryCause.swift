public import AlcedoCore

/// Why an attempt has failed, as far as it matters for another one. A cancellation is none of them.
public enum RetryCause: Sendable, Hashable {
    /// The server answered with this status, and perhaps said how long to wait.
    case status(Int, retryAfter: Duration?)
    /// The exchange failed.
    case transport(HTTPTransportError.Code)
}
