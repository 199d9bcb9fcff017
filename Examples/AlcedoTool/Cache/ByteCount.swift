import ExampleSupport

/// Bytes as people write and read them.
enum ByteCount {
    private static let units: [(suffix: String, factor: Int)] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]

    /// Throws ``UsageError`` for what is no number with K, M, G or nothing behind it.
    static func parse(_ text: String, for option: String) throws -> Int {
        let unit = units.first { text.uppercased().hasSuffix($0.suffix) }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
            throw UsageError("\(option) takes bytes, such as 4096, 512K, 64M or 2G, not '\(text)'")
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit?.factor ?? 1)
        guard !overflows else { throw UsageError("\(option) takes fewer bytes than '\(text)'") }
        return bytes
    }

    /// As `12.3 MiB`.
    static func words(_ count: Int) -> String {
        guard let unit = units.last(where: { count >= $0.factor }) else { return "\(count) bytes" }
        let tenths = Int((Double(count) / Double(unit.factor) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit.suffix)iB"
    }
}
