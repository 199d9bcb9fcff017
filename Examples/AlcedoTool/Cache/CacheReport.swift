import Alcedo
import ExampleSupport
import FoundationEssentials

/// What `alcedo cache` says, as text or JSON.
struct CacheReport {
    let directory: URL
    let isJSON: Bool
    let isQuiet: Bool

    private var path: String { directory.path(percentEncoded: false) }

    func tell(_ count: Int, _ size: Int, _ partCount: Int, _ partSize: Int) {
        if isJSON {
            return tell([
                "directory": .text(path), "entries": .number(count), "bytes": .number(size),
                "partEntries": .number(partCount), "partBytes": .number(partSize),
            ])
        }
        say(
            """
            directory: \(Console.printable(path))
            entries: \(count), \(ByteCount.words(size))
            unfinished downloads: \(partCount) parts, \(ByteCount.words(partSize))

            """)
    }

    /// - Parameter key: nil when the entry has gone meanwhile.
    func tell(_ item: DataCacheItem, _ key: ImageKey?) {
        let (name, used) = (
            key.map { URLPassword.hidden(in: $0.description) } ?? item.name, item.lastUse.formatted(.iso8601)
        )
        if isJSON {
            return tell([
                "key": .text(name), "file": .text(item.name), "bytes": .number(item.size), "lastUse": .text(used),
            ])
        }
        let size = "\(item.size)"
        let padding = String(repeating: " ", count: max(0, 10 - size.count))
        say("\(used)  \(padding)\(size)  \(Console.printable(name))\n")
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
        for name in damaged { say("damaged, and removed: \(name)\n") }
        say("checked: \(checked) entries, \(ByteCount.words(bytes)) whole, \(damaged.count) damaged\n")
    }

    func tell(_ trimmed: DataCacheTrimReport) { tellCleared(trimmed.removals.count, trimmed.byteCount) }

    func tellCleared(_ count: Int, _ bytes: Int) {
        if isJSON { return tell(["removed": .number(count), "bytes": .number(bytes)]) }
        say("removed: \(count) entries, \(ByteCount.words(bytes))\n")
    }

    private func tell(_ object: [String: JSONValue]) {
        if let line = try? JSONLine.text(of: object) { say(line) }
    }

    private func say(_ text: String) {
        if !isQuiet { Console.output(text) }
    }
}
