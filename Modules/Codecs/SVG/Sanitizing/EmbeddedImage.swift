#if SVG
    import AlcedoCore
    import FoundationEssentials

    /// The image of a `data:` URL, without the parts of the URL that are not needed. Source: RFC 2397.
    struct EmbeddedImage {
        enum Format {
            case png
            case jpeg
            /// The bytes may be a document.
            case text
        }

        let format: Format
        let bytes: Data
        /// The size in the header; nil for text.
        let size: PixelSize?

        /// Reads a URL. Returns nil for another scheme, and for images other than PNG, JPEG and SVG, which are not
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
                bytes = data
            } else {
                bytes = Data(content)
            }
            if let size = Self.pngSize(bytes) {
                (format, self.size) = (.png, size)
            } else if let size = Self.jpegSize(bytes) {
                (format, self.size) = (.jpeg, size)
            } else if bytes.prefix(4_096).contains(UInt8(ascii: "<")) {
                (format, size) = (.text, nil)
            } else {
                return nil
            }
        }

        /// Returns the URL of bytes in a format that librsvg reads.
        static func url(of bytes: Data, mediaType: String) -> [UInt8] {
            Array("data:\(mediaType);base64,".utf8) + Array(bytes.base64EncodedData())
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
#endif
