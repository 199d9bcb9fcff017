import AlcedoCore
import FoundationEssentials

/// Collects a content in memory.
struct MemorySink: ContentSink {
    private(set) var data = Data()

    var count: Int { data.count }

    var beginning: Data { Data(data.prefix(CodecRegistry.sniffedByteCount)) }

    mutating func append(_ piece: Data) { data.append(piece) }

    /// Believed only as far as a megabyte: the rest is reserved as it comes.
    mutating func reserve(_ count: Int) { data.reserveCapacity(min(count, 1 << 20)) }

    mutating func removeAll() { data = Data() }
}
