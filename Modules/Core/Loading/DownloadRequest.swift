/// Asks for the bytes of a source.
public struct DownloadRequest: Sendable {
    public var source: ImageSource
    public var priority: LoadPriority

    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.source = source
        self.priority = priority
    }
}
