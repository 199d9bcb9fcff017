#if SVG
    import AlcedoCore
    import CSVGShim

    /// A document that is compressed by gzip, as in SVGZ files, in one or several members. Sources: SVG 2, section 1.3;
    /// RFC 1952.
    struct GzipText {
        /// The first bytes of a file: the identification, and the only compression method.
        static let signature: [UInt8] = [0x1F, 0x8B, 8]

        /// The decompressed bytes, as far as they can be decompressed.
        private(set) var bytes: [UInt8] = []
        /// The error that ended decompression early, or else that of a checksum or a number of bytes; nil for an intact
        /// file.
        private(set) var damage: ImageDecodingError?
        /// The offset of the compressed data, after the header.
        private let start: Int
        /// The name of the file before it was compressed, if it is stored and complete.
        private let name: ArraySlice<UInt8>?

        static func matches(_ data: UnsafeBufferPointer<UInt8>) -> Bool { data.starts(with: signature) }

        /// The maximum number of compressed members that are read. Programs that append to a file write several.
        private static let maximumMemberCount = 1_000
        /// The number of bytes after the compressed data: the checksum and the number of bytes.
        private static let trailerByteCount = 8

        /// Decompresses a file, which may have several members. Other bytes after a member are ignored.
        ///
        /// - Throws: `exceedsLimit` when there are more than `maximumByteCount` bytes, `truncated` when the data ends
        ///   within the header, and `corrupt`.
        init(_ data: UnsafeBufferPointer<UInt8>, maximumByteCount: Int) throws(ImageDecodingError) {
            self.init(header: data)
            guard start < data.count else {
                throw ImageDecodingError(.truncated, "SVG: the data ends within the header of gzip")
            }
            var offset = start
            for _ in 0..<Self.maximumMemberCount {
                let member = try inflate(data, from: offset, maximumByteCount: maximumByteCount - bytes.count)
                let next = member.end + Self.trailerByteCount
                guard member.isWhole, next < data.count else { return }
                let rest = UnsafeBufferPointer(rebasing: data[next...])
                guard GzipText.matches(rest) else { return }
                offset = next + GzipText(header: rest).start
                guard offset < data.count else {
                    damage = ImageDecodingError(.truncated, "SVG: the compressed data ends too early")
                    return
                }
            }
        }

        /// Decompresses the data of one member, which begins at an offset. Returns the offset after the compressed
        /// bytes, and whether they have an end.
        private mutating func inflate(
            _ data: UnsafeBufferPointer<UInt8>, from offset: Int, maximumByteCount: Int
        ) throws(ImageDecodingError) -> (end: Int, isWhole: Bool) {
            guard let source = data.baseAddress.map({ $0 + offset }) else { return (offset, false) }
            // The last four bytes of the file usually state the number of bytes.
            let stated = data.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let sourceCount = data.count - offset
            var status = ALCEDO_SVG_LIMIT
            var used = 0
            var member: [UInt8] = []
            for capacity in [min(stated + 1, maximumByteCount), maximumByteCount] where status == ALCEDO_SVG_LIMIT {
                member = Array(unsafeUninitializedCapacity: capacity) { memory, count in
                    guard let out = memory.baseAddress else { return }
                    status = alcedo_svg_inflate(source, sourceCount, out, capacity, &count, &used)
                }
            }
            if bytes.isEmpty { bytes = member } else { bytes += member }
            switch status {
            case ALCEDO_SVG_OK: damage = damage ?? Self.damage(of: member, data[(offset + used)...])
            case ALCEDO_SVG_LIMIT:
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: the decompressed bytes exceed the limit of \(maximumByteCount)")
            case ALCEDO_SVG_OUT_OF_MEMORY:
                throw ImageDecodingError(.outOfMemory, "SVG: cannot decompress the document: out of memory")
            case ALCEDO_SVG_TRUNCATED:
                damage = ImageDecodingError(.truncated, "SVG: the compressed data ends too early")
            default: damage = ImageDecodingError(.corrupt, "SVG: the compressed data is invalid")
            }
            return (offset + used, status == ALCEDO_SVG_OK)
        }

        /// Returns the damage of a member whose trailer is incomplete or does not match its bytes, or nil.
        private static func damage(of member: [UInt8], _ rest: Slice<UnsafeBufferPointer<UInt8>>) -> ImageDecodingError?
        {
            let trailer = rest.prefix(trailerByteCount)
            guard trailer.count == trailerByteCount else {
                return ImageDecodingError(.truncated, "SVG: the data ends before the checksum of gzip")
            }
            let number = { (bytes: Slice<UnsafeBufferPointer<UInt8>>) in
                bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            let checksum = member.withUnsafeBufferPointer { alcedo_svg_checksum($0.baseAddress, $0.count) }
            let isIntact =
                number(trailer.prefix(4)) == checksum
                && number(trailer.suffix(4)) == UInt32(truncatingIfNeeded: member.count)
            return isIntact ? nil : ImageDecodingError(.corrupt, "SVG: the checksum of gzip is wrong")
        }

        /// Reads the header only.
        private init(header data: UnsafeBufferPointer<UInt8>) {
            /// Returns the offset after a text with a zero at its end.
            func end(ofText start: Int) -> Int {
                guard start < data.count else { return data.count }
                return (data[start...].firstIndex(of: 0) ?? data.count) + 1
            }
            guard data.count > 10 else {
                (start, name) = (data.count, nil)
                return
            }
            let flags = data[3]
            var offset = 10
            if flags & 4 != 0, data.count > 12 { offset += 2 + (Int(data[10]) | Int(data[11]) << 8) }
            var name: ArraySlice<UInt8>?
            if flags & 8 != 0 {
                let end = end(ofText: offset)
                if end <= data.count, offset < end { name = Array(data[offset..<end - 1])[...] }
                offset = end
            }
            if flags & 16 != 0 { offset = end(ofText: offset) }
            if flags & 2 != 0 { offset += 2 }
            (start, self.name) = (offset, name)
        }

        /// Returns whether a file that begins with these bytes may be a document: whether its beginning, or else its
        /// name, is that of one, or neither is known.
        static func mayBeDocument(
            _ head: UnsafeBufferPointer<UInt8>, isDocument: (UnsafeBufferPointer<UInt8>) -> Bool
        ) -> Bool {
            let gzip = GzipText(header: head)
            if gzip.start < head.count, let source = head.baseAddress.map({ $0 + gzip.start }) {
                var text = [UInt8](repeating: 0, count: CodecRegistry.sniffedByteCount)
                var (count, used) = (0, 0)
                _ = alcedo_svg_inflate(source, head.count - gzip.start, &text, text.count, &count, &used)
                if count >= 16 { return text.withUnsafeBufferPointer { isDocument($0.extracting(..<count)) } }
            }
            guard let name = gzip.name, let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return true }
            let ending = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
            return ["svg", "svgz", "xml"].contains(ending)
        }
    }
#endif
