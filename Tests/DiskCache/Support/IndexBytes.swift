import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// An index file that tests read and change.
struct IndexBytes {
    let url: URL

    init(_ directory: TemporaryDirectory) { self.init(directory.url) }

    init(_ directory: URL) { url = directory.appending(path: "index") }

    var content: Data {
        get throws { try #require(FileManager.default.contents(atPath: url.path)) }
    }

    var header: IndexHeader {
        get throws {
            let header = IndexHeader(try content.prefix(IndexHeader.size).bytes)
            return try #require(header)
        }
    }

    var recordCount: Int {
        get throws { try (content.count - IndexHeader.size) / IndexRecord.size }
    }

    /// Puts another file in the place of the index.
    func replace(by content: Data) throws {
        try FileManager.default.removeItem(at: url)
        try content.write(to: url)
    }

    /// Changes the header of the file.
    func changeHeader(_ change: (inout IndexHeader) -> Void) throws {
        var header = try header
        change(&header)
        try replace(by: Data(header.encoded) + content.dropFirst(IndexHeader.size))
    }
}
