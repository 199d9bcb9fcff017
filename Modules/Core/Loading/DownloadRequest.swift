public import FoundationEssentials

/// Asks for the bytes of a source.
public struct DownloadRequest: Sendable {
    /// Takes bytes as they come: where they belong, and what they are. A transfer that has to begin anew starts at nought
    /// again.
    public typealias BytesHandler = @Sendable (_ offset: Int, _ bytes: Data) -> Void

    /// Where the bytes come from.
    public var source: ImageSource
    /// How urgent the download is. May change until it has ended.
    public var priority: LivePriority
    /// Is given the bytes as they come; nil: nobody is. Called from any thread, one call at a time; must not block. Who
    /// joins a transfer that is under way may be given those that come from then on, or none.
    public var onBytes: BytesHandler?

    /// A request with a priority of its own.
    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.init(source, following: LivePriority(priority))
    }

    /// A request whose priority is changed by its owner.
    public init(_ source: ImageSource, following priority: LivePriority, onBytes: BytesHandler? = nil) {
        self.source = source
        self.priority = priority
        self.onBytes = onBytes
    }
}
