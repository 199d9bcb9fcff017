public import FoundationEssentials

/// Asks for the bytes of a source.
public struct DownloadRequest: Sendable {
    /// Takes bytes as they come: where they belong, and what they are. A transfer that has to begin anew starts at nought
    /// again.
    public typealias BytesHandler = @Sendable (_ offset: Int, _ bytes: Data) -> Void

    /// Returns when a transfer may begin. Throws `CancellationError` only.
    public typealias Room = @Sendable () async throws -> Void

    /// Where the bytes come from.
    public var source: ImageSource
    /// How urgent the download is. May change until it has ended.
    public var priority: LivePriority
    /// Is given the bytes as they come; nil: nobody is. Called from any thread, one call at a time; must not block. Who
    /// joins a transfer that is under way may be given those that come from then on, or none.
    public var onBytes: BytesHandler?
    /// Is awaited when it is the transfer's turn, before the first byte is asked for; the transfer keeps its slot
    /// meanwhile. So whoever does something with the bytes can have no more of them come than it has room for. Of those
    /// who share a transfer, the first one's. nil: there is room.
    public var room: Room?
    /// The version of the local file that is wanted: requests for different ones share no transfer.
    package var fileVersion: FileVersion?

    /// A request with a priority of its own.
    public init(_ source: ImageSource, priority: LoadPriority = .normal) {
        self.init(source, following: LivePriority(priority))
    }

    /// A request whose priority is changed by its owner.
    public init(
        _ source: ImageSource, following priority: LivePriority, onBytes: BytesHandler? = nil, room: Room? = nil
    ) {
        self.source = source
        self.priority = priority
        self.onBytes = onBytes
        self.room = room
    }
}
