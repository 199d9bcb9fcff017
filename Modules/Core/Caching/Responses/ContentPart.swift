/// Which bytes of the whole content a stored body is.
public struct ContentPart: Sendable, Hashable {
    /// Of the body's first byte in the whole.
    public var offset: Int
    /// Bytes of the whole; nil when the server did not say.
    public var completeCount: Int?

    /// A part that begins at a byte; the size of the whole is nil where nobody has said it.
    public init(offset: Int, completeCount: Int?) {
        self.offset = offset
        self.completeCount = completeCount
    }
}
