#if JXL
    import AlcedoBoxes
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
                guard let box = Box(bytes, at: offset) else {
                    isTruncated = !hasCodestream
                    return
                }
                let isCut = box.payload.upperBound > bytes.count
                if isCut { isTruncated = !hasCodestream || Self.knownTypes.contains(box.type) }
                readCodestream(box)
                guard !isCut else { return }
                readMetadata(box)
                offset = box.payload.upperBound
            }
        }

        private static let knownTypes: Set<BoxType> = [
            "jxll", "jxlc", "jxlp", "jxli", "jbrd", "Exif", "xml ", "jumb", "brob", "jhgm",
        ]

        private mutating func readCodestream(_ box: Box) {
            let part = box.reader.rest
            switch box.type {
            case "jxlc":
                hasCodestream = true
                codestream.append(part)
            case "jxlp":
                // An index precedes each part. Its first bit marks the last part.
                guard part.count >= 4 else { return }
                if box.bytes[part.lowerBound] & 0x80 != 0 { hasCodestream = true }
                codestream.append(part.dropFirst(4))
            default: break
            }
        }

        private mutating func readMetadata(_ box: Box) {
            switch box.type {
            case "Exif", "xml ":
                add(JXLMetadataBox(type: box.type, isCompressed: false, contents: box.payload))
            case "brob":
                guard let type = box.number(at: 0, 4).map(BoxType.init(code:)) else { return }
                add(JXLMetadataBox(type: type, isCompressed: true, contents: box.payload))
            default: break
            }
        }

        private mutating func add(_ box: JXLMetadataBox) {
            if !metadata.contains(where: { $0.type == box.type }) { metadata.append(box) }
        }
    }

    /// A box that may hold metadata.
    struct JXLMetadataBox {
        let type: BoxType
        /// Whether the contents are compressed with Brotli. They then begin with the type.
        let isCompressed: Bool
        let contents: Range<Int>
    }
#endif
