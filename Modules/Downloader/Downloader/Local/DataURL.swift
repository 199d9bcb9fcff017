import FoundationEssentials

/// Source: RFC 2397, with the leniency of the WHATWG fetch standard's "data: URL processor" for padding.
enum DataURL {
    /// - Throws: ``DownloadError`` `invalidSource`.
    static func decode(_ text: String) throws(DownloadError) -> Data {
        guard text.prefix(5).lowercased() == "data:", let comma = text.firstIndex(of: ",") else {
            throw DownloadError(.invalidSource, "not a data URL: it has no comma")
        }
        let header = text[text.index(text.startIndex, offsetBy: 5)..<comma]
        let isBase64 =
            header.split(separator: ";").dropFirst(header.hasPrefix(";") ? 0 : 1).last?
            .lowercased().filter { $0 != " " } == "base64"
        let unescaped = percentDecoded(text[text.index(after: comma)...].prefix { $0 != "#" })
        guard isBase64 else { return unescaped }
        var encoded = unescaped.filter { ![0x20, 0x09, 0x0A, 0x0C, 0x0D].contains($0) }
        // Padding may be there or not, but only at the end; the decoder would take it anywhere.
        let padding = UInt8(ascii: "=")
        if encoded.count % 4 == 0 { for _ in 0..<2 where encoded.last == padding { encoded.removeLast() } }
        let isWhole = encoded.count % 4 != 1 && !encoded.contains(padding)
        encoded += Data(repeating: padding, count: (4 - encoded.count % 4) % 4)
        guard isWhole, let data = Data(base64Encoded: encoded) else {
            throw DownloadError(.invalidSource, "the data URL's base64 is damaged")
        }
        return data
    }

    private static func percentDecoded(_ text: Substring) -> Data {
        var result = Data()
        var bytes = text.utf8[...]
        while let byte = bytes.popFirst() {
            let digits = bytes.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let digits = String(digits),
                !digits.hasPrefix("+"), !digits.hasPrefix("-"), let value = UInt8(digits, radix: 16)
            {
                result.append(value)
                bytes = bytes.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
