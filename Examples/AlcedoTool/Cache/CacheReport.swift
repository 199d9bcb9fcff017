import Alcedo
import ExampleSupport
import Foundation

/// What `alcedo cache` says, as text or JSON.
struct CacheReport {
    let directory: URL
    let isJSON: Bool

    private var path: String { directory.path(percentEncoded: false) }

    func tell(_ count: Int, _ size: Int, _ partCount: Int, _ partSize: Int) {
        if isJSON {
            return tell([
                "directory": .text(path), "entries": .number(count), "bytes": .number(size),
                "partEntries": .number(partCount), "partBytes": .number(partSize),
            ])
        }
        Console.output(
            """
            directory: \(Console.printable(path))
            entries: \(count), \(ByteCount.words(size))
            unfinished downloads: \(partCount) parts, \(ByteCount.words(partSize))

            """)
    }

    /// - Parameter key: nil when the entry has gone meanwhile.
    func tell(_ item: DataCacheItem, _ key: ImageKey?) {
        let (name, used) = (key?.description ?? item.name, item.lastUse.formatted(.iso8601))
        if isJSON {
            return tell([
                "key": .text(name), "file": .text(item.name), "bytes": .number(item.size), "lastUse": .text(used),
            ])
        }
        let size = "\(item.size)"
        let padding = String(repeating: " ", count: max(0, 10 - size.count))
        Console.output("\(used)  \(padding)\(size)  \(Console.printable(name))\n")
    }

    func tell(_ found: DataCacheVerification, _ parts: DataCacheVerification) {
        let checked = found.checkedCount + parts.checkedCount
        let damaged = found.damagedNames + parts.damagedNames
        let bytes = found.byteCount + parts.byteCount
        if isJSON {
            return tell([
                "checked": .number(checked), "bytes": .number(bytes), "damaged": .texts(damaged),
            ])
        }
        for name in damaged { Console.output("damaged, and removed: \(name)\n") }
        Console.output("checked: \(checked) entries, \(ByteCount.words(bytes)) whole, \(damaged.count) damaged\n")
    }

    func tell(_ trimmed: DataCacheTrimReport) { tellCleared(trimmed.removals.count, trimmed.byteCount) }

    func tellCleared(_ count: Int, _ bytes: Int) {
        if isJSON { return tell(["removed": .number(count), "bytes": .number(bytes)]) }
        Console.output("removed: \(count) entries, \(ByteCount.words(bytes))\n")
    }

    private enum Value: Encodable {
        case text(String)
        case texts([String])
        case number(Int)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .texts(let texts): try container.encode(texts)
            case .number(let number): try container.encode(number)
            }
        }
    }

    private func tell(_ object: [String: Value]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(object) else { return }
        Console.output(String(decoding: data, as: UTF8.self) + "\n")
    }
}
