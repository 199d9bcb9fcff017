import AlcedoCore

/// What a transfer is to fetch, and where to.
struct TransferOrder: Sendable {
    var source: ImageSource
    /// The file that the content goes to; nil for memory.
    var path: String?
    /// Whether the bytes are told as they come to memory.
    var tellsBytes = false
}
