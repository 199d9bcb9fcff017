import Alcedo
import AlcedoProgramSupport
import FoundationEssentials

/// The output of `alcedo cache`, as text or JSON.
struct CacheReport {
    let directory: URL
    let isJSON: Bool
    let isQuiet: Bool

    private var path: String { directory.path(percentEncoded: false) }

    func printTotals(_ count: Int, _ size: Int, _ partCount: Int, _ partSize: Int) {
        if isJSON {
            return printObject([
                "directory": .text(path), "entries": .number(count), "bytes": .number(size),
                "partEntries": .number(partCount), "partBytes": .number(partSize),
            ])
        }
        printText(
            """
            directory: \(Console.printable(path))
            entries: \(count), \(ByteCount.words(size))
            unfinished downloads: \(partCount) parts, \(ByteCount.words(partSize))

            """)
    }

    /// Prints one entry.
    ///
    /// - Parameters:
    ///   - item: The entry's file.
    ///   - key: The entry's key, or nil if the key cannot be read, for example because the entry was removed meanwhile.
    func printItem(_ item: DataCacheItem, _ key: ImageKey?) {
        let (name, used) = (
            key.map { URLPassword.hidden(in: $0.description) } ?? item.name, item.lastUse.formatted(.iso8601)
        )
        if isJSON {
            return printObject([
                "key": .text(name), "file": .text(item.name), "bytes": .number(item.size), "lastUse": .text(used),
            ])
        }
        let size = "\(item.size)"
        let padding = String(repeating: " ", count: max(0, 10 - size.count))
        printText("\(used)  \(padding)\(size)  \(Console.printable(name))\n")
    }

    func printVerification(_ found: DataCacheVerification, _ parts: DataCacheVerification) {
        let checked = found.checkedCount + parts.checkedCount
        let damaged = found.damagedNames + parts.damagedNames
        let bytes = found.byteCount + parts.byteCount
        if isJSON {
            return printObject([
                "checked": .number(checked), "bytes": .number(bytes), "damaged": .texts(damaged),
            ])
        }
        for name in damaged { printText("damaged, removed: \(name)\n") }
        printText("checked: \(checked) entries, \(ByteCount.words(bytes)) valid, \(damaged.count) damaged\n")
    }

    func printTrim(_ trimmed: DataCacheTrimReport) { printRemovals(trimmed.removals.count, trimmed.byteCount) }

    func printRemovals(_ count: Int, _ bytes: Int) {
        if isJSON { return printObject(["removed": .number(count), "bytes": .number(bytes)]) }
        printText("removed: \(count) entries, \(ByteCount.words(bytes))\n")
    }

    private func printObject(_ object: [String: JSONValue]) {
        if let line = try? JSONLine.text(of: object) { printText(line) }
    }

    private func printText(_ text: String) {
        if !isQuiet { Console.output(text) }
    }
}

/// Parsing and formatting of byte counts.
enum ByteCount {
    private static let units: [(suffix: String, factor: Int)] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]

    /// Returns the number of bytes that a text such as `512K` stands for. The suffixes K, M and G are binary and may be
    /// lowercase. Throws ``UsageError`` if the text is not a number with an optional suffix, or if the number of bytes
    /// is too large for `Int`.
    static func parse(_ text: String, for option: String) throws -> Int {
        let unit = units.first { text.uppercased().hasSuffix($0.suffix) }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
            throw UsageError("\(option) needs a number of bytes, such as 4096, 512K, 64M or 2G, not '\(text)'")
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit?.factor ?? 1)
        guard !overflows else { throw UsageError("the value of \(option) is too large: '\(text)'") }
        return bytes
    }

    /// Returns the count in bytes below 1,024, otherwise with a binary unit, such as `12.3 MiB`.
    static func words(_ count: Int) -> String {
        // A count that rounds to 1024.0 of a unit is 1.0 of the next one.
        let rounded = units.map { unit in
            (tenths: Int((Double(count) / Double(unit.factor) * 10).rounded()), suffix: unit.suffix)
        }
        guard count >= 1024, let number = rounded.first(where: { $0.tenths < 10_240 }) ?? rounded.last else {
            return "\(count) bytes"
        }
        return "\(number.tenths / 10).\(number.tenths % 10) \(number.suffix)iB"
    }
}

/// The removal of passwords from URLs in output.
private enum URLPassword {
    /// Returns the text, such as that of a key, with the password of each URL replaced by three dots.
    static func hidden(in text: String) -> String {
        let pieces = text.split(separator: "://", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in index == 0 ? String(piece) : hidden(atStartOf: piece) }
            .joined(separator: "://")
    }

    /// Returns the text with the password of its authority replaced.
    ///
    /// - Parameter rest: The text after the two slashes of a URL.
    private static func hidden(atStartOf rest: Substring) -> String {
        let authority = rest.prefix { !"/?# ".contains($0) }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return String(rest)
        }
        return "\(rest[...colon])...\(rest[at...])"
    }
}
