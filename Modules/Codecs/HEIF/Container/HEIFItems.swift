#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The items of a file: images, tiles and metadata. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12,
    /// section 6.
    struct HEIFItems {
        struct Item {
            var type: BoxType
            /// The media type of an item of the type `mime`.
            var contentType = ""
            /// The offsets of the payload's parts in the file, which may be beyond the received bytes. nil when the
            /// payload is stored in an unsupported way.
            var extents: [Range<Int>]? = []
            /// Whether a part of the payload cannot be inside any file, or is outside of the box `idat`.
            var isOutside = false
            /// The indices of the properties, from 1, in the order in which they apply.
            var properties: [(index: Int, isEssential: Bool)] = []
        }

        /// Returns the offsets of the payload's parts of an image.
        ///
        /// - Throws: `corrupt` for a part outside of any file, `unsupportedVariant` for an unsupported storage.
        static func location(of item: Item) throws(ImageDecodingError) -> [Range<Int>] {
            guard !item.isOutside else { throw ImageDecodingError(.corrupt, "HEIF: an item is outside the file") }
            guard let extents = item.extents else {
                throw ImageDecodingError(.unsupportedVariant, "HEIF: an image is stored in an unsupported way")
            }
            return extents
        }

        struct Reference {
            let type: BoxType
            let from: Int
            let to: [Int]
        }

        private static let maximumCount = 16_384
        /// The maximum number of parts of all payloads.
        private static let maximumExtentCount = 65_536
        /// The maximum number of references and of the items that they name.
        private static let maximumReferenceCount = 65_536
        /// The maximum end of an item in the file. It keeps sums of lengths small.
        private static let maximumEnd = 1 << 40

        private(set) var items: [Int: Item] = [:]
        private(set) var references: [Reference] = []
        /// The boxes of the properties, in the order of the file.
        private(set) var properties: [Box] = []
        /// The number of the image that is shown.
        private(set) var primary: Int?
        /// Whether the entry of an item or a reference is too short. The item may be one that is not needed.
        private(set) var hasShortEntry = false

        /// Reads the tables of the box `meta`.
        ///
        /// - Throws: `corrupt`, and `exceedsLimit` for more items, parts or references than are read.
        init(_ meta: Box) throws(ImageDecodingError) {
            func first(_ type: BoxType) -> Box? { meta.child(type, skipping: 4) }
            if let box = first("iinf") { try readTypes(box) }
            if let box = first("iloc") { try readLocations(box, idat: first("idat")?.payload) }
            if let box = first("pitm") {
                var reader = box.reader
                let version = try reader.number(4) >> 24
                primary = try reader.number(version == 0 ? 2 : 4)
            }
            if let box = first("iprp") {
                // An index has at most 15 bits.
                properties = box.child("ipco").map { Array($0.children().prefix(0x7FFF)) } ?? []
                for box in box.children() where box.type == "ipma" { try readAssociations(box.reader) }
            }
            if let box = first("iref") { try readReferences(box) }
        }

        /// Whether the payload of an item is not within this number of bytes.
        func hasItem(outside byteCount: Int) -> Bool {
            items.values.contains { item in
                item.isOutside || (item.extents ?? []).contains { $0.upperBound > byteCount }
            }
        }

        /// Returns the items that an item refers to, in their order.
        func targets(of item: Int, _ type: BoxType) -> [Int] {
            references.first { $0.type == type && $0.from == item }?.to ?? []
        }

        /// Returns the items that refer to an item, each once.
        func sources(of item: Int, _ type: BoxType) -> [Int] {
            var found: Set<Int> = []
            return references.filter { $0.type == type && $0.to.contains(item) && found.insert($0.from).inserted }
                .map(\.from)
        }

        private mutating func readTypes(_ box: Box) throws(ImageDecodingError) {
            var reader = box.reader
            let version = try reader.number(4) >> 24
            let entries = Array(box.children(skipping: version == 0 ? 6 : 8).prefix(Self.maximumCount + 1))
            guard entries.count <= Self.maximumCount else { throw Self.tooMany("items") }
            for entry in entries where entry.type == "infe" {
                do throws(ImageDecodingError) {
                    try readType(entry.reader)
                } catch {
                    hasShortEntry = true
                }
            }
        }

        private mutating func readType(_ entry: BoxReader) throws(ImageDecodingError) {
            var reader = entry
            let version = try reader.number(4) >> 24
            // Earlier versions do not have a type.
            guard version >= 2 else { return }
            let number = try reader.number(version == 2 ? 2 : 4)
            try reader.skip(2)
            var item = Item(type: try reader.type())
            if item.type == "mime" {
                _ = reader.text()
                item.contentType = reader.text()
            }
            if items[number] == nil { items[number] = item }
        }

        /// Reads where the payloads are. Further entries for an item, which the format forbids, are ignored. Source:
        /// ISO/IEC 14496-12, section 8.11.3.
        private mutating func readLocations(_ box: Box, idat: Range<Int>?) throws(ImageDecodingError) {
            var reader = box.reader
            let version = try reader.number(4) >> 24
            guard version <= 2 else { throw ImageDecodingError(.unsupportedVariant, "HEIF: unknown item locations") }
            let sizes = try reader.number(2)
            let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            let indexSize = version == 0 ? 0 : sizes & 15
            guard max(offsetSize, lengthSize, max(baseSize, indexSize)) <= 8 else {
                throw ImageDecodingError(.corrupt, "HEIF: an item location has an invalid size")
            }
            var extentCount = 0
            var locatedItems: Set<Int> = []
            for _ in 0..<(try reader.number(version < 2 ? 2 : 4)) {
                let number = try reader.number(version < 2 ? 2 : 4)
                let method = version == 0 ? 0 : try reader.number(2) & 15
                let reference = try reader.number(2)
                let base = try reader.number(baseSize)
                let count = try reader.number(2)
                extentCount += count
                guard extentCount <= Self.maximumExtentCount else { throw Self.tooMany("parts of items") }
                // Payloads are in this file, or in the box `idat`.
                let area = method == 0 ? 0..<Int.max : method == 1 ? idat : nil
                var extents: [Range<Int>]? = area == nil || reference != 0 ? nil : []
                var isOutside = false
                // Without a length, or with the length 0, a single part is the rest of the file or of the box. Metadata
                // of the length 0 is empty, because otherwise the pixels could become a part of it.
                let type = items[number]?.type
                let isMetadata = type == "Exif" || type == "mime"
                let isRest = lengthSize == 0 || (count == 1 && !isMetadata)
                for _ in 0..<count {
                    try reader.skip(indexSize)
                    let offset = try reader.number(offsetSize)
                    let stored = try reader.number(lengthSize)
                    let length = stored == 0 && isRest ? nil : stored
                    guard let area, extents != nil else { continue }
                    // The item may be one that is not needed.
                    if let extent = Self.extent(base, offset, length, in: area, byteCount: box.bytes.count) {
                        extents?.append(extent)
                    } else {
                        isOutside = true
                    }
                }
                if type != nil, locatedItems.insert(number).inserted {
                    items[number]?.extents = isOutside ? nil : extents
                    items[number]?.isOutside = isOutside
                }
            }
        }

        /// Returns the range of a part, or nil when it is outside of the area or of any file.
        private static func extent(
            _ base: Int, _ offset: Int, _ length: Int?, in area: Range<Int>, byteCount: Int
        ) -> Range<Int>? {
            let (start, first) = base.addingReportingOverflow(offset)
            let (begin, second) = start.addingReportingOverflow(area.lowerBound)
            // The start is checked first, because subtracting a sum that overflowed would trap.
            guard !first, !second, begin <= maximumEnd else { return nil }
            let (end, third) = begin.addingReportingOverflow(
                length ?? max(0, min(byteCount, area.upperBound) - begin))
            guard !third, end <= min(area.upperBound, maximumEnd) else { return nil }
            return begin..<end
        }

        private mutating func readAssociations(_ box: BoxReader) throws(ImageDecodingError) {
            var reader = box
            let versionAndFlags = try reader.number(4)
            let hasLargeIndices = versionAndFlags & 1 == 1
            for _ in 0..<(try reader.number(4)) {
                let number = try reader.number(versionAndFlags >> 24 == 0 ? 2 : 4)
                var list: [(index: Int, isEssential: Bool)] = []
                for _ in 0..<(try reader.number(1)) {
                    let value = try reader.number(hasLargeIndices ? 2 : 1)
                    let mask = hasLargeIndices ? 0x7FFF : 0x7F
                    if value & mask > 0 { list.append((value & mask, value > mask)) }
                }
                // Further lists, which the format forbids, could give an item millions of properties.
                if items[number]?.properties.isEmpty == true { items[number]?.properties = list }
            }
        }

        private mutating func readReferences(_ box: Box) throws(ImageDecodingError) {
            var reader = box.reader
            let size = try reader.number(4) >> 24 == 0 ? 2 : 4
            var totalCount = 0
            for entry in box.children(skipping: 4) {
                var reader = entry.reader
                guard let from = reader.integer(size), let count = reader.integer(2) else {
                    hasShortEntry = true
                    continue
                }
                totalCount += 1 + count
                guard totalCount <= Self.maximumReferenceCount else { throw Self.tooMany("references") }
                let targets = (0..<count).compactMap { _ in reader.integer(size) }
                if targets.count == count {
                    references.append(Reference(type: entry.type, from: from, to: targets))
                } else {
                    hasShortEntry = true
                }
            }
        }

        private static func tooMany(_ things: String) -> ImageDecodingError {
            ImageDecodingError(.exceedsLimit, "HEIF: the file has too many \(things)")
        }
    }
#endif
