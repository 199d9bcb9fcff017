#if SVG
    import AlcedoCore
    import FoundationEssentials

    /// The image of a `data:` URL, without the parts of the URL that are not needed. Source: RFC 2397.
    struct EmbeddedImage {
        enum Format: String {
            case png = "image/png"
            case jpeg = "image/jpeg"
            /// The bytes are those of the first frame.
            case gif = "image/gif"
            /// The bytes may be a document, or a compressed one.
            case text = "image/svg+xml"
        }

        let format: Format
        let bytes: Data
        /// The size in the header; nil for text.
        let size: PixelSize?
        /// The number of scans of a JPEG; 1 for other formats.
        var scanCount: Int { format == .jpeg ? Self.scanCount(bytes) : 1 }

        /// Reads a URL. Returns nil for another scheme, and for images other than PNG, JPEG, GIF and SVG, which are not
        /// drawn.
        ///
        /// The bytes, and not the media type, tell the format. O(bytes).
        init?(url: [UInt8]) {
            let url = url.drop(while: XMLCharacter.isSpace)
            let scheme = Array("data:".utf8)
            guard url.count > scheme.count, zip(scheme, url).allSatisfy({ $0 == $1 | ($1 < 0x40 ? 0 : 0x20) }),
                let comma = url.firstIndex(of: UInt8(ascii: ","))
            else { return nil }
            let type = String(decoding: url[..<comma], as: UTF8.self).lowercased()
            let content = Self.unescaped(url[(comma + 1)...])
            if type.filter({ !$0.isWhitespace }).hasSuffix(";base64") {
                guard let data = Data(base64Encoded: Data(content), options: .ignoreUnknownCharacters) else {
                    return nil
                }
                self.init(data)
            } else {
                self.init(Data(content))
            }
        }

        private init?(_ data: Data) {
            if let size = Self.pngSize(data) {
                (format, bytes, self.size) = (.png, Self.essentialPNG(data), size)
            } else if let size = Self.jpegSize(data) {
                (format, bytes, self.size) = (.jpeg, data, size)
            } else if let still = GIFStill(data) {
                (format, bytes, size) = (.gif, still.bytes, still.size)
            } else if data.starts(with: GzipText.signature) || data.prefix(4_096).contains(UInt8(ascii: "<")) {
                (format, bytes, size) = (.text, data, nil)
            } else {
                return nil
            }
        }

        /// Returns the URL of bytes in a format that librsvg reads.
        static func url(of bytes: Data, format: Format) -> [UInt8] {
            Array("data:\(format.rawValue);base64,".utf8) + Array(bytes.base64EncodedData())
        }

        /// Resolves the escapes of a URL, such as `%20`.
        private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
            guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
            var result: [UInt8] = []
            result.reserveCapacity(text.count)
            var index = text.startIndex
            while index < text.endIndex {
                if text[index] == UInt8(ascii: "%"), index + 2 < text.endIndex,
                    let high = hexDigit(text[index + 1]), let low = hexDigit(text[index + 2])
                {
                    result.append(high << 4 | low)
                    index += 3
                } else {
                    result.append(text[index])
                    index += 1
                }
            }
            return result
        }

        private static func hexDigit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x37
            case 0x61...0x66: byte - 0x57
            default: nil
            }
        }

        /// Returns the size in the header of a PNG, or nil for other data. Source: PNG, section 11.2.2.
        private static func pngSize(_ data: Data) -> PixelSize? {
            let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            guard data.count >= 24, data.starts(with: start) else { return nil }
            func number(at offset: Int) -> Int { data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
            return PixelSize(width: number(at: 16), height: number(at: 20))
        }

        /// Returns a PNG without the chunks that are not drawn. The text in each of a thousand could expand to 8 MB.
        /// Source: PNG, section 5.3.
        private static func essentialPNG(_ data: Data) -> Data {
            let types = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"].map { Array($0.utf8) }
            var result = data.prefix(8)
            result.reserveCapacity(data.count)
            var rest = data.dropFirst(8)
            while rest.count >= 8 {
                let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                // The last chunk may be incomplete.
                let chunk = rest.prefix(length + 12)
                if types.contains(where: { chunk.dropFirst(4).starts(with: $0) }) { result += chunk }
                rest = rest.dropFirst(chunk.count)
            }
            return result
        }

        /// Returns the number of scans of a JPEG, as libjpeg counts them. Source: ITU-T T.81, section B.2.
        private static func scanCount(_ data: Data) -> Int {
            data.withUnsafeBytes { bytes in
                var (count, offset) = (0, 2)
                while offset + 3 < bytes.count {
                    let marker = bytes[offset + 1]
                    // Coded data, fill bytes, and markers without a length.
                    guard bytes[offset] == 0xFF, marker > 0x01, marker < 0xFF, !(0xD0...0xD8 ~= marker) else {
                        offset += 1
                        continue
                    }
                    guard marker != 0xD9 else { break }
                    if marker == 0xDA { count += 1 }
                    offset += 2 + max(2, Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
                }
                return max(1, count)
            }
        }

        /// Returns the size in the first frame header of a JPEG, or nil for other data. Source: ITU-T T.81, section
        /// B.2.
        private static func jpegSize(_ data: Data) -> PixelSize? {
            guard data.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
            var offset = 2
            while offset + 9 < data.count {
                guard data[offset] == 0xFF else { return nil }
                let marker = data[offset + 1]
                // Fill bytes, and markers without a length.
                guard marker != 0xFF else {
                    offset += 1
                    continue
                }
                guard marker != 0x01, !(0xD0...0xD8 ~= marker) else {
                    offset += 2
                    continue
                }
                if 0xC0...0xCF ~= marker, marker != 0xC4, marker != 0xC8, marker != 0xCC {
                    return PixelSize(
                        width: Int(data[offset + 7]) << 8 | Int(data[offset + 8]),
                        height: Int(data[offset + 5]) << 8 | Int(data[offset + 6]))
                }
                offset += 2 + max(2, Int(data[offset + 2]) << 8 | Int(data[offset + 3]))
            }
            return nil
        }
    }

    /// The first frame of a GIF. Source: GIF89a.
    private struct GIFStill {
        /// A file with this frame only.
        let bytes: Data
        /// The size of the canvas and of the frame, whichever is larger.
        let size: PixelSize

        /// Reads a file up to the end of its first frame. Returns nil for other data and for a file that ends before.
        init?(_ data: Data) {
            guard data.starts(with: "GIF8".utf8), data.count > 13 else { return nil }
            func number(at offset: Int) -> Int { Int(data[offset]) | Int(data[offset + 1]) << 8 }
            func colorTableLength(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
            /// Returns the offset after the blocks at the offset, or nil when they have no end.
            func endOfBlocks(_ offset: Int) -> Int? {
                var offset = offset
                while offset < data.count, data[offset] > 0 { offset += Int(data[offset]) + 1 }
                return offset < data.count ? offset + 1 : nil
            }
            var offset = 13 + colorTableLength(data[10])
            while offset + 9 < data.count {
                switch data[offset] {
                case 0x21:
                    guard let end = endOfBlocks(offset + 2) else { return nil }
                    offset = end
                case 0x2C:
                    let start = offset + 10 + colorTableLength(data[offset + 9]) + 1
                    guard let end = endOfBlocks(start) else { return nil }
                    bytes = data[..<end] + [0x3B]
                    size = PixelSize(
                        width: max(number(at: 6), number(at: offset + 5)),
                        height: max(number(at: 8), number(at: offset + 7)))
                    return
                default: return nil
                }
            }
            return nil
        }
    }
#endif
