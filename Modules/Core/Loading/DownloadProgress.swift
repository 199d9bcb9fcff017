/// How far a transfer is.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes that have arrived.
    public var received: Int
    /// Bytes there will be; nil when the source does not say.
    public var expected: Int?

    /// So many bytes of so many; nil where nobody knows.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
