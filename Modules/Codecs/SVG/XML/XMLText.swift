#if SVG
    import AlcedoCore

    /// The bytes of an XML document as UTF-8, up to the first byte that XML does not allow.
    struct XMLText {
        /// The bytes, without a byte order mark.
        let bytes: [UInt8]
        /// Whether an invalid byte follows.
        let isDamaged: Bool

        /// Converts a document from UTF-8, UTF-16, ISO 8859-1 or Windows-1252. O(bytes).
        ///
        /// The byte order mark decides, then the XML declaration. Without either, the encoding is UTF-8.
        ///
        /// - Throws: `unsupportedVariant` for another encoding.
        init(_ data: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
            let all: [UInt8]
            if let isBigEndian = Self.utf16ByteOrder(data) {
                all = Self.utf8(fromUTF16: data, isBigEndian: isBigEndian)
            } else {
                let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
                let isMarked = data.starts(with: mark)
                // The beginning of a file may end within the mark, which for UTF-16 is FE FF or FF FE.
                let isPartOfMark = data.count < mark.count && (mark.starts(with: data) || data.first ?? 0 > 0xFD)
                let rest = isMarked || isPartOfMark ? data.dropFirst(mark.count) : data[...]
                switch isMarked ? "utf-8" : Self.declaredEncoding(rest) {
                case "utf-8", "utf8", "us-ascii", "ascii": all = Array(rest)
                case "iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252": all = Self.utf8(fromLatin1: rest)
                case let name:
                    throw ImageDecodingError(.unsupportedVariant, "SVG: the encoding \(name) is not supported")
                }
            }
            let count = Self.validCount(all)
            isDamaged = count < all.count && !Self.isTruncatedCharacter(all[count...])
            bytes = count < all.count ? Array(all[..<count]) : all
        }

        /// Returns whether the bytes are UTF-16 with the most significant byte first, or nil when they are not UTF-16.
        private static func utf16ByteOrder(_ data: UnsafeBufferPointer<UInt8>) -> Bool? {
            guard data.count > 1 else { return nil }
            switch (data[0], data[1]) {
            case (0xFE, 0xFF), (0x00, 0x3C): return true
            case (0xFF, 0xFE), (0x3C, 0x00): return false
            default: return nil
            }
        }

        private static func utf8(fromUTF16 data: UnsafeBufferPointer<UInt8>, isBigEndian: Bool) -> [UInt8] {
            var units = stride(from: 0, to: data.count - 1, by: 2).map { index in
                let (first, second) = (UInt16(data[index]), UInt16(data[index + 1]))
                return isBigEndian ? first << 8 | second : second << 8 | first
            }
            // The end may be missing in the middle of a character.
            if let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(data.count)
            let isInvalid = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true) {
                bytes.append($0)
            }
            // A byte that is invalid in UTF-8 stands for a lone surrogate.
            if isInvalid { bytes.append(0xFF) }
            return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        }

        /// The characters of Windows-1252 from 0x80 to 0x9F. ISO 8859-1 has control characters there, which documents
        /// do not use.
        private static let windows: [UInt32] = [
            0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
            0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
            0x0153, 0x9D, 0x017E, 0x0178,
        ]

        private static func utf8(fromLatin1 data: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(data.count + data.count / 8)
            for byte in data {
                let code = 0x80...0x9F ~= byte ? windows[Int(byte - 0x80)] : UInt32(byte)
                bytes.append(utf8Of: code)
            }
            return bytes
        }

        /// Returns the encoding of the XML declaration in lower case; UTF-8 without one.
        private static func declaredEncoding(_ data: Slice<UnsafeBufferPointer<UInt8>>) -> String {
            guard data.starts(with: "<?xml".utf8), let end = data.prefix(200).firstIndex(of: UInt8(ascii: ">")),
                let name = data.indices.prefix(while: { $0 < end }).first(where: { index in
                    data[index...].starts(with: "encoding".utf8)
                })
            else { return "utf-8" }
            let value = data[name..<end].dropFirst(8).drop { XMLCharacter.isSpace($0) || $0 == UInt8(ascii: "=") }
            guard let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                return "utf-8"
            }
            return String(decoding: value.dropFirst().prefix { $0 != quote }, as: UTF8.self).lowercased()
        }

        /// Returns the number of bytes before the first one that is invalid in UTF-8 or not allowed in XML.
        private static func validCount(_ bytes: [UInt8]) -> Int {
            bytes.withUnsafeBufferPointer { bytes in
                var index = 0
                while index < bytes.count {
                    let byte = bytes[index]
                    if byte < 0x80 {
                        guard byte >= 0x20 || byte == 9 || byte == 10 || byte == 13 else { return index }
                        index += 1
                        continue
                    }
                    let count = characterLength(byte)
                    guard count > 1, index + count <= bytes.count else { return index }
                    var code = UInt32(byte) & (0x7F >> UInt32(count))
                    for offset in 1..<count {
                        guard bytes[index + offset] & 0xC0 == 0x80 else { return index }
                        code = code << 6 | UInt32(bytes[index + offset] & 0x3F)
                    }
                    let minimum: UInt32 = count == 2 ? 0x80 : count == 3 ? 0x800 : 0x10000
                    guard code >= minimum, XMLCharacter.isAllowed(code) else { return index }
                    index += count
                }
                return index
            }
        }

        private static func characterLength(_ first: UInt8) -> Int {
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        }

        /// Returns whether the bytes at the end are the beginning of a character.
        private static func isTruncatedCharacter(_ bytes: ArraySlice<UInt8>) -> Bool {
            guard let first = bytes.first, bytes.count < characterLength(first) else { return false }
            return bytes.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
        }
    }

    /// The characters of XML. Source: Extensible Markup Language 1.0, section 2.2.
    enum XMLCharacter {
        /// Returns whether a document may contain the character.
        static func isAllowed(_ code: UInt32) -> Bool {
            switch code {
            case 9, 10, 13, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
            default: false
            }
        }

        /// Returns whether the byte is white space.
        static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 10 || byte == 13 }

        /// Returns whether a name may contain the byte. Bytes of characters beyond ASCII count as letters.
        static func isName(_ byte: UInt8) -> Bool {
            isNameStart(byte) || 0x30...0x39 ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }

        /// Returns whether a name may begin with the byte.
        static func isNameStart(_ byte: UInt8) -> Bool {
            0x61...0x7A ~= byte || 0x41...0x5A ~= byte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
                || byte >= 0x80
        }
    }

    extension Array<UInt8> {
        /// Appends a character of Unicode. Does nothing for a number that is no character.
        mutating func append(utf8Of code: UInt32) {
            guard let scalar = Unicode.Scalar(code) else { return }
            append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
#endif
