import AlcedoCore
import FoundationEssentials

/// Collects a content in memory.
struct MemorySink: ContentSink {
    private(set) var data = Data()
    private var expectedCount = 0
    private let onBytes: DownloadRequest.BytesHandler?

    /// - Parameter onBytes: Is given the bytes as they come.
    init(onBytes: DownloadRequest.BytesHandler? = nil) { self.onBytes = onBytes }

    var count: Int { data.count }

    var beginning: Data { Data(data.prefix(CodecRegistry.sniffedByteCount)) }

    mutating func append(_ piece: Data) {
        onBytes?(data.count, piece)
        guard data.isEmpty else { return data.append(piece) }
        // What comes in one piece is not copied; a piece that begins a longer content may have the room for it.
        if piece.startIndex == 0 { data = piece } else { data.append(piece) }
        if data.count < expectedCount { data.reserveCapacity(expectedCount) }
    }

    /// Believed only as far as a megabyte: the rest is reserved as it comes.
    mutating func reserve(_ count: Int) { expectedCount = min(count, 1 << 20) }

    mutating func removeAll() { data = Data() }
}
