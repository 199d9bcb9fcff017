import AlcedoCore

/// What a transfer is to fetch, and where to. A class, so that it is handed on as one reference.
final class TransferOrder: Sendable {
    let source: ImageSource
    /// The file that the content goes to; nil for memory.
    let path: String?
    /// Whether the bytes are told as they come to memory.
    let tellsBytes: Bool
    /// What is awaited before it begins; nil: nothing.
    let room: DownloadRequest.Room?
    /// The version of a local file that is wanted; nil: any.
    let fileVersion: FileVersion?

    init(
        source: ImageSource, path: String?, tellsBytes: Bool, room: DownloadRequest.Room? = nil,
        fileVersion: FileVersion? = nil
    ) {
        (self.source, self.path, self.tellsBytes, self.room) = (source, path, tellsBytes, room)
        self.fileVersion = fileVersion
    }
}
