#if TIFF
    import AlcedoCore

    /// The header of a file, and the offsets of its pages. Sources: TIFF 6.0, section 2; BigTIFF, which has offsets of
    /// 64 bits.
    struct TIFFStructure {
        let bytes: UnsafeBufferPointer<UInt8>
        let isBigEndian: Bool
        /// Whether offsets have 64 bits.
        let isBig: Bool
        /// The offsets of the directories of pages, at least one. Directories of reduced images and of masks are not
        /// pages, unless there are no others.
        private(set) var pages: [Int] = []
        /// The offset of the first directory of the chain.
        let first: Int
        /// The damage of the chain of directories after the first one; nil when none was found.
        private(set) var damage: ImageDamage?

        /// Follows the chain of directories. Directories after the limit of frames are not found. `bytes` must outlive
        /// the structure.
        ///
        /// - Throws: `truncated` when the data ends before the end of the first directory; `corrupt` for another
        ///   format, and for a file without directories; `unsupportedVariant` for a raw photo of a camera.
        init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
            self.bytes = bytes
            let orders: [[UInt8]] = [
                [0x49, 0x49, 42, 0], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 42], [0x4D, 0x4D, 0, 43],
            ]
            guard let order = orders.firstIndex(where: { zip($0, bytes).allSatisfy { $0 == $1 } }) else {
                throw ImageDecodingError(.corrupt, "TIFF: the signature is missing")
            }
            isBigEndian = order >= 2
            isBig = order % 2 == 1
            let field = isBig ? 8 : 4
            guard let first = Self.number(bytes, at: field, byteCount: isBig ? 8 : 4, isBigEndian: isBigEndian) else {
                throw Self.truncated
            }
            self.first = first
            try findPages(first, limits)
            try refuseRawPhoto()
        }

        /// Creates the structure of EXIF data, which has the form of a file without pages. Returns nil for data without
        /// a header. `bytes` must outlive the structure.
        init?(exif bytes: UnsafeBufferPointer<UInt8>) {
            let isBigEndian = bytes.starts(with: "MM\0*".utf8)
            guard isBigEndian || bytes.starts(with: "II*\0".utf8),
                let first = Self.number(bytes, at: 4, byteCount: 4, isBigEndian: isBigEndian)
            else { return nil }
            (self.bytes, self.isBigEndian, self.isBig, self.first) = (bytes, isBigEndian, false, first)
        }

        private static var truncated: ImageDecodingError {
            ImageDecodingError(.truncated, "TIFF: the data ends before the directory")
        }

        /// The number of bytes of an offset, and of a count of values.
        var offsetByteCount: Int { isBig ? 8 : 4 }
        /// The number of bytes of the count of entries, which precedes them.
        var countByteCount: Int { isBig ? 8 : 2 }
        /// The number of bytes of an entry.
        var entryByteCount: Int { isBig ? 20 : 12 }

        /// Returns an unsigned number, or nil when it is not within the bytes or exceeds `Int.max`.
        func number(at offset: Int, byteCount: Int) -> Int? {
            Self.number(bytes, at: offset, byteCount: byteCount, isBigEndian: isBigEndian)
        }

        private static func number(
            _ bytes: UnsafeBufferPointer<UInt8>, at offset: Int, byteCount: Int, isBigEndian: Bool
        ) -> Int? {
            guard offset >= 0, offset <= bytes.count - byteCount else { return nil }
            let value = (0..<byteCount).reduce(UInt64(0)) { value, index in
                let byte = UInt64(bytes[offset + index])
                return isBigEndian ? value << 8 | byte : value | byte << UInt64(8 * index)
            }
            return Int(exactly: value)
        }

        /// Returns the number of entries of a directory, or nil when they are not within the bytes.
        func entryCount(of directory: Int) -> Int? {
            guard let count = number(at: directory, byteCount: countByteCount) else { return nil }
            return count <= (bytes.count - directory - countByteCount) / entryByteCount ? count : nil
        }

        private mutating func findPages(_ first: Int, _ limits: DecodingLimits) throws(ImageDecodingError) {
            var (seen, others, offset): (Set<Int>, [Int], Int) = ([], [], first)
            while offset != 0, seen.count < max(1, limits.maximumFrameCount) {
                guard seen.insert(offset).inserted else {
                    damage = ImageDamage(
                        .harmless, ImageDecodingError(.corrupt, "TIFF: the list of the pages has no end"))
                    break
                }
                guard let count = entryCount(of: offset),
                    let next = number(
                        at: offset + countByteCount + count * entryByteCount, byteCount: offsetByteCount)
                else {
                    guard seen.count > 1 else { throw Self.truncated }
                    damage = ImageDamage(
                        .harmless, ImageDecodingError(.truncated, "TIFF: the data ends before the last page"))
                    break
                }
                if isPage(offset, entryCount: count) { pages.append(offset) } else { others.append(offset) }
                offset = next
            }
            if pages.isEmpty { pages = others }
            guard !pages.isEmpty else { throw ImageDecodingError(.corrupt, "TIFF: the file has no image") }
        }

        /// Throws `unsupportedVariant` for a raw photo of a camera, of which only a small preview could be decoded.
        ///
        /// DNG has a tag for its version, and CR2 a mark between the header and the directory. Of NEF, ARW and others,
        /// the first directory is that of a reduced image, and a subordinate one that of the photo. A pyramid begins
        /// with the whole image.
        /// Sources: DNG 1.7; TIFF/EP (ISO 12234-2).
        private func refuseRawPhoto() throws(ImageDecodingError) {
            let directory = TIFFDirectory(self, at: first)
            let parts = directory.integers(330, Self.examinedPartCount)
            let kind: String
            if directory.entries[50_706] != nil {
                kind = "DNG"
            } else if first == 16, bytes[8..<16].starts(with: "CR".utf8) {
                kind = "CR2"
            } else if !isPage(first), parts.contains(where: { isPage($0) }) {
                kind = "such as NEF or ARW"
            } else {
                return
            }
            throw ImageDecodingError(
                .unsupportedVariant,
                "TIFF: the file is a raw photo of a camera (\(kind)); such photos are not decoded, and their previews "
                    + "are not shown in their place")
        }

        /// The number of subordinate directories that are examined. Cameras write at most four.
        private static let examinedPartCount = 16

        /// Whether a directory is that of a whole image, as ``isPage(_:entryCount:)`` tells. False if it is incomplete.
        private func isPage(_ directory: Int) -> Bool {
            entryCount(of: directory).map { isPage(directory, entryCount: $0) } ?? false
        }

        /// Whether a directory is that of a whole image. Otherwise, its first entry, because of the order of tags,
        /// states the kind of the image (NewSubfileType).
        private func isPage(_ directory: Int, entryCount: Int) -> Bool {
            let entry = directory + countByteCount
            guard entryCount > 0, number(at: entry, byteCount: 2) == 254,
                let type = number(at: entry + 2, byteCount: 2), type == 3 || type == 4,
                let kind = number(at: entry + 4 + offsetByteCount, byteCount: type == 3 ? 2 : 4)
            else { return true }
            let (reduced, mask) = (1, 4)
            return kind & (reduced | mask) == 0
        }
    }

    /// The entries of a directory.
    struct TIFFDirectory {
        /// An entry.
        struct Entry {
            /// The number of the type.
            let type: Int
            let count: Int
            /// The range of the values, or nil when they are not within the bytes or have an unknown type.
            let values: Range<Int>?
        }

        let structure: TIFFStructure
        let offset: Int
        private(set) var entries: [Int: Entry] = [:]
        /// Whether values that are not within the bytes are needed to decode the pixels.
        private(set) var lacksNeededValues = false
        /// Whether values of metadata are not within the bytes.
        private(set) var lacksMetadata = false

        /// Reads the entries at an offset. O(entries). An offset outside of the bytes gives no entries.
        init(_ structure: TIFFStructure, at offset: Int) {
            self.structure = structure
            self.offset = offset
            for index in 0..<(structure.entryCount(of: offset) ?? 0) {
                add(offset + structure.countByteCount + index * structure.entryByteCount)
            }
        }

        private mutating func add(_ position: Int) {
            let offsetByteCount = structure.offsetByteCount
            guard let tag = structure.number(at: position, byteCount: 2),
                let type = structure.number(at: position + 2, byteCount: 2),
                entries[tag] == nil
            else { return }
            let count = structure.number(at: position + 4, byteCount: offsetByteCount) ?? .max
            let field = position + 4 + offsetByteCount
            var values: Range<Int>?
            if let size = Self.byteCount(ofType: type) {
                let (byteCount, overflow) = count.multipliedReportingOverflow(by: size)
                let start =
                    byteCount <= offsetByteCount
                    ? field : structure.number(at: field, byteCount: offsetByteCount) ?? .max
                if !overflow, start <= structure.bytes.count, byteCount <= structure.bytes.count - start {
                    values = start..<start + byteCount
                } else if Self.metadataTags.contains(tag) || type == 2 || tag >= 0x8000 {
                    lacksMetadata = true
                } else {
                    lacksNeededValues = true
                }
            }
            entries[tag] = Entry(type: type, count: count, values: values)
        }

        /// The tags below 0x8000 that do not describe how pixels are stored: document name, page name, resolution and
        /// its unit, position, page number, software, date, artist, host and XMP. Texts are no such tags, either.
        private static let metadataTags: Set = [
            269, 270, 271, 272, 282, 283, 285, 286, 287, 296, 297, 305, 306, 315, 316, 700,
        ]

        /// Returns the number of bytes of one value of a type, or nil for an unknown type.
        static func byteCount(ofType type: Int) -> Int? {
            switch type {
            case 1, 2, 6, 7, 129: 1
            case 3, 8: 2
            case 4, 9, 11, 13: 4
            case 5, 10, 12, 16, 17, 18: 8
            default: nil
            }
        }

        /// Returns the first value of a tag, or nil if it is not an unsigned integer within the bytes.
        func integer(_ tag: Int) -> Int? { integers(tag, 1).first }

        /// Returns the first values of a tag, at most `maximumCount`, or no values if they are not unsigned integers
        /// within the bytes.
        func integers(_ tag: Int, _ maximumCount: Int) -> [Int] {
            guard let entry = entries[tag], let values = entry.values,
                [1, 3, 4, 13, 16, 18].contains(entry.type), let size = Self.byteCount(ofType: entry.type)
            else { return [] }
            return (0..<min(entry.count, maximumCount)).compactMap {
                structure.number(at: values.lowerBound + $0 * size, byteCount: size)
            }
        }

        /// Returns the range of the bytes of a tag that are not numbers, or nil if there are none.
        func range(_ tag: Int) -> Range<Int>? { entries[tag]?.values.flatMap { $0.isEmpty ? nil : $0 } }
    }
#endif
