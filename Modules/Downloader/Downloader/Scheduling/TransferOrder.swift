import AlcedoCore

/// What a transfer is to fetch, and where to. A class, so that it is handed on as one reference.
final class TransferOrder: Sendable {
    let source: ImageSource
    /// The file that the content goes to; nil for memory.
    let path: String?
    /// Whether the bytes are told as they come to memory.
    let tellsBytes: Bool

    init(source: ImageSource, path: String?, tellsBytes: Bool) {
        (self.source, self.path, self.tellsBytes) = (source, path, tellsBytes)
    }
}
