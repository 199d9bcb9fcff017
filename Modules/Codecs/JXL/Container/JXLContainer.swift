#if JXL
    import AlcedoCore

    /// The boxes of a JPEG XL file, as positions in its bytes. A file can also be a codestream without boxes.
    ///
    /// libjxl reads the codestream. This type recognizes files, tells truncated files from complete ones, and finds the
    /// metadata. Sources: ISO/IEC 18181-2, section 9; ISO/IEC 14496-12, section 4.2.
    struct JXLContainer {
        /// The first bytes of a codestream without boxes.
        static let codestreamSignature: [UInt8] = [0xFF, 0x0A]
        /// The first bytes of a file with boxes.
        static let boxSignature: [UInt8] = [0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A]

        /// Whether the file does not begin with a signature of JPEG XL.
        private(set) var isForeign = false
        /// Whether the bytes end within the signature or within a box.
        private(set) var isTruncated = false
        /// Whether the file has boxes.
        private(set) var hasBoxes = false
        /// The contents of the boxes that may hold metadata, without those of the same type as an earlier box.
        private(set) var metadata: [JXLMetadataBox] = []
        /// The parts of the codestream, as far as they are present.
        private(set) var codestream: [Range<Int>] = []
        private var hasCodestream = false

        /// Reads the boxes of a file, or of the beginning of one.
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            if bytes.starts(with: Self.codestreamSignature) {
                codestream = [0..<bytes.count]
                return
            }
            guard bytes.starts(with: Self.boxSignature) else {
                let isPrefix = Self.codestreamSignature.starts(with: bytes) || Self.boxSignature.starts(with: bytes)
                isForeign = !isPrefix
                isTruncated = isPrefix
                return
            }
            hasBoxes = true
            var offset = Self.boxSignature.count
            while offset < bytes.count {
                // Other bytes after the codestream are not a box, and are ignored.
                guard let box = JXLBox(bytes, at: offset) else {
                    isTruncated = !hasCodestream
                    return
                }
                let isCut = box.end > bytes.count
                if isCut { isTruncated = !hasCodestream || Self.knownTypes.contains(box.type) }
                readCodestream(box, bytes)
                guard !isCut else { return }
                readMetadata(box, bytes)
                offset = box.end
            }
        }

        private static let knownTypes: Set<UInt32> = Set(
            (["jxll", "jxlc", "jxlp", "jxli", "jbrd", "Exif", "xml ", "jumb", "brob", "jhgm"] as [StaticString])
                .map(JXLBox.type))

        private mutating func readCodestream(_ box: JXLBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            let end = min(box.end, bytes.count)
            switch box.type {
            case JXLBox.type("jxlc"):
                hasCodestream = true
                codestream.append(box.start..<end)
            case JXLBox.type("jxlp"):
                // An index precedes each part. Its first bit marks the last part.
                guard end - box.start >= 4 else { return }
                if bytes[box.start] & 0x80 != 0 { hasCodestream = true }
                codestream.append(box.start + 4..<end)
            default: break
            }
        }

        private mutating func readMetadata(_ box: JXLBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            switch box.type {
            case JXLBox.type("Exif"), JXLBox.type("xml "):
                add(JXLMetadataBox(type: box.type, isCompressed: false, contents: box.start..<box.end))
            case JXLBox.type("brob"):
                guard let type = JXLBox.number(bytes, at: box.start, end: box.end) else { return }
                add(JXLMetadataBox(type: type, isCompressed: true, contents: box.start..<box.end))
            default: break
            }
        }

        private mutating func add(_ box: JXLMetadataBox) {
            if !metadata.contains(where: { $0.type == box.type }) { metadata.append(box) }
        }
    }

    /// A box that may hold metadata.
    struct JXLMetadataBox {
        /// The type of the metadata.
        let type: UInt32
        /// Whether the contents are compressed with Brotli. They then begin with the type.
        let isCompressed: Bool
        /// The positions of the contents.
        let contents: Range<Int>
    }

    /// One box of the file.
    struct JXLBox {
        /// The four characters of the box's type, as a big-endian number.
        let type: UInt32
        /// The offset of the first byte after the header.
        let start: Int
        /// The offset after the last byte. It may be beyond the received bytes.
        let end: Int

        /// Reads the header at `offset`. Returns nil when the header is incomplete, or the size is below that of the
        /// header. A size of zero means that the box extends to the end of the bytes.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
            guard let size = Self.number(bytes, at: offset, end: bytes.count),
                let type = Self.number(bytes, at: offset + 4, end: bytes.count)
            else { return nil }
            self.type = type
            switch size {
            case 0:
                start = offset + 8
                end = bytes.count
            case 1:
                guard let high = Self.number(bytes, at: offset + 8, end: bytes.count),
                    let low = Self.number(bytes, at: offset + 12, end: bytes.count)
                else { return nil }
                let large = UInt64(high) << 32 | UInt64(low)
                guard large >= 16, large <= UInt64(Int.max - offset) else { return nil }
                start = offset + 16
                end = offset + Int(large)
            default:
                guard size >= 8 else { return nil }
                start = offset + 8
                end = offset + Int(size)
            }
        }

        /// The type of four ASCII characters.
        static func type(_ name: StaticString) -> UInt32 {
            name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
        }

        /// Returns the big-endian number of four bytes at `offset`, or nil when it does not end before `end`.
        static func number(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, end: Int) -> UInt32? {
            guard offset <= end, end - offset >= 4 else { return nil }
            return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
#endif
