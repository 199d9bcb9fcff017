import AlcedoCore
import FoundationEssentials

/// What a transfer has brought, to memory or to a file.
struct Delivery: Sendable {
    /// Empty when it went to a file.
    var data = Data()
    var byteCount: Int
    var end: SourceEnd

    init(data: Data, end: SourceEnd) { (self.data, byteCount, self.end) = (data, data.count, end) }

    /// What went to a file.
    init(byteCount: Int, end: SourceEnd) { (self.byteCount, self.end) = (byteCount, end) }
}
