#if AVIF
    import AlcedoCore

    /// The items of a box `meta`: which of them are coded images, and which of those libavif decodes.
    ///
    /// The tables must be within the limit of their entries. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12,
    /// sections 6.6 and 9.3.
    struct AVIFItems {
        private struct Reference {
            let type: UInt32
            let from: Int
            let to: [Int]
        }

        /// The numbers of the coded images.
        private var coded: Set<Int> = []
        /// The number of the image that is shown.
        private var primary: Int?
        /// The declared sizes. An item with several has the one with the most pixels.
        private var sizes: [Int: PixelSize] = [:]
        /// The numbers of the items with the property of an alpha image.
        private var alphas: Set<Int> = []
        private var references: [Reference] = []
        /// The sizes that the properties declare, also those of no item.
        private(set) var declaredSizes: [PixelSize] = []
        /// The offset after the last byte of all items that are stored in the file.
        private(set) var end: UInt64 = 0

        init(_ meta: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            for box in meta.children(bytes, skipping: 4) {
                switch box.type {
                case ISOBox.type("pitm"):
                    let isLong = box.number(bytes, at: 0, 1) != 0
                    primary = box.number(bytes, at: 4, isLong ? 4 : 2).map { Int($0) }
                case ISOBox.type("iinf"): readTypes(box, bytes)
                case ISOBox.type("iloc"): readLocations(box, bytes)
                case ISOBox.type("iprp"): readProperties(box, bytes)
                case ISOBox.type("iref"): readReferences(box, bytes)
                default: break
                }
            }
        }

        /// The number of coded images.
        var codedCount: Int { coded.count }

        /// The coded images that libavif decodes: the shown image or its tiles, and those of its alpha.
        var tiles: AVIFTiles {
            guard let primary else { return AVIFTiles() }
            let color = union([primary], tilesOf: [primary])
            // Alpha belongs to the image, or to each of its tiles.
            let auxiliary = references.filter { reference in
                reference.type == ISOBox.type("auxl") && alphas.contains(reference.from)
                    && reference.to.contains { color.contains($0) }
            }
            let alpha = union(Set(auxiliary.map(\.from)), tilesOf: Set(auxiliary.map(\.from)))
            var tiles = AVIFTiles()
            tiles.colorCount = color.intersection(coded).count
            tiles.alphaCount = alpha.intersection(coded).subtracting(color).count
            for item in color.union(alpha).intersection(coded) {
                // libavif gives alpha without a size that of the shown image.
                if let size = sizes[item] ?? sizes[primary] { tiles.include(size) }
            }
            return tiles
        }

        /// Whether the shown image has an alpha image, although its payload may be empty.
        var declaresAlpha: Bool {
            guard let primary else { return false }
            return references.contains { reference in
                reference.type == ISOBox.type("auxl") && alphas.contains(reference.from)
                    && reference.to.contains(primary)
                    && !union([reference.from], tilesOf: [reference.from]).isDisjoint(with: coded)
            }
        }

        /// Whether a tile of the shown image is a grid itself.
        var hasGridOfGrids: Bool {
            guard let primary else { return false }
            let grid = ISOBox.type("dimg")
            let tiles = union([], tilesOf: [primary])
            return references.contains { $0.type == grid && tiles.contains($0.from) && !coded.contains($0.from) }
        }

        private func union(_ items: Set<Int>, tilesOf images: Set<Int>) -> Set<Int> {
            let grid = ISOBox.type("dimg")
            return references.reduce(into: items) { result, reference in
                if reference.type == grid, images.contains(reference.from) { result.formUnion(reference.to) }
            }
        }

        private mutating func readTypes(_ list: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            let type = UInt64(ISOBox.type("av01"))
            let countSize = (list.number(bytes, at: 0, 1) ?? 0) == 0 ? 2 : 4
            for entry in list.children(bytes, skipping: 4 + countSize) {
                let numberSize = (entry.number(bytes, at: 0, 1) ?? 0) < 3 ? 2 : 4
                guard entry.number(bytes, at: 4 + numberSize + 2, 4) == type,
                    let number = entry.number(bytes, at: 4, numberSize)
                else { continue }
                coded.insert(Int(number))
            }
        }

        /// Reads where the items are. Source: ISO/IEC 14496-12, section 8.11.3.
        private mutating func readLocations(_ list: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            guard let version = list.number(bytes, at: 0, 1), let sizes = list.number(bytes, at: 4, 2) else { return }
            let (offsetSize, lengthSize) = (Int(sizes >> 12), Int(sizes >> 8 & 15))
            let (baseSize, indexSize) = (Int(sizes >> 4 & 15), version == 0 ? 0 : Int(sizes & 15))
            guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy({ $0 <= 8 }) else { return }
            let numberSize = version < 2 ? 2 : 4
            var position = 6
            func next(_ count: Int) -> UInt64? {
                defer { position += count }
                return count == 0 ? 0 : list.number(bytes, at: position, count)
            }
            guard let count = next(numberSize) else { return }
            for _ in 0..<count {
                guard next(numberSize) != nil, let method = next(version == 0 ? 0 : 2), let reference = next(2),
                    let base = next(baseSize), let extentCount = next(2)
                else { return }
                // Extents without any bytes are equal.
                let extentSize = indexSize + offsetSize + lengthSize
                for _ in 0..<(extentSize == 0 ? min(1, extentCount) : extentCount) {
                    guard next(indexSize) != nil, let offset = next(offsetSize), let length = next(lengthSize) else {
                        return
                    }
                    // Other items are in the box `idat`, in another item or in another file.
                    guard method & 15 == 0, reference == 0 else { continue }
                    let sum = base.addingReportingOverflow(offset)
                    let last = sum.partialValue.addingReportingOverflow(length)
                    end = max(end, sum.overflow || last.overflow ? .max : last.partialValue)
                }
            }
        }

        private mutating func readProperties(_ list: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            let properties = list.child("ipco", bytes)?.children(bytes) ?? []
            let propertySizes = properties.map { Self.size($0, bytes) }
            let isAlpha = properties.map { $0.type == ISOBox.type("auxC") && Self.namesAlpha($0, bytes) }
            declaredSizes += propertySizes.compactMap { $0 }
            for table in list.children(bytes) where table.type == ISOBox.type("ipma") {
                var numbers = ISOBoxNumbers(table, bytes)
                guard let head = numbers.next(4), let count = numbers.next(4) else { continue }
                let numberSize = head >> 24 == 0 ? 2 : 4
                let indexSize = head & 1 == 0 ? 1 : 2
                for _ in 0..<count {
                    guard let item = numbers.next(numberSize), let length = numbers.next(1) else { break }
                    for _ in 0..<length {
                        guard let value = numbers.next(indexSize) else { break }
                        // The highest bit states whether the property is essential. Indices begin at 1.
                        let index = (value & (indexSize == 1 ? 0x7F : 0x7FFF)) - 1
                        guard properties.indices.contains(index) else { continue }
                        if isAlpha[index] { alphas.insert(item) }
                        guard let size = propertySizes[index] else { continue }
                        if size.pixelCount > sizes[item]?.pixelCount ?? 0 { sizes[item] = size }
                    }
                }
            }
        }

        private mutating func readReferences(_ list: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            let numberSize = (list.number(bytes, at: 0, 1) ?? 0) == 0 ? 2 : 4
            for box in list.children(bytes, skipping: 4) {
                var numbers = ISOBoxNumbers(box, bytes)
                guard let from = numbers.next(numberSize), let count = numbers.next(2) else { continue }
                let targets = (0..<count).compactMap { _ in numbers.next(numberSize) }
                references.append(Reference(type: box.type, from: from, to: targets))
            }
        }

        /// Returns the size that a property `ispe` declares, or nil for other properties.
        private static func size(_ property: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) -> PixelSize? {
            guard property.type == ISOBox.type("ispe"), let width = property.number(bytes, at: 4, 4),
                let height = property.number(bytes, at: 8, 4)
            else { return nil }
            return PixelSize(width: Int(width), height: Int(height))
        }

        private static func namesAlpha(_ property: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            let name = bytes[min(property.start + 4, property.end)..<property.end]
            return AVIFTrack.alphaNames.contains { name.starts(with: $0.utf8) }
        }
    }

    /// The coded images that libavif decodes for one shown image: itself or its tiles, and those of its alpha.
    struct AVIFTiles {
        /// The number of coded images with color.
        var colorCount = 0
        /// The number of coded images with alpha.
        var alphaCount = 0
        /// The largest number of pixels that one of them declares.
        private(set) var pixelCount = 0
        /// The largest number of pixels of one of them, with the rows and columns that AV1 adds at the edges.
        private(set) var codedPixelCount = 0

        /// Takes account of the size of an image.
        mutating func include(_ size: PixelSize) {
            guard size.isPositive else { return }
            pixelCount = max(pixelCount, size.pixelCount)
            codedPixelCount = max(codedPixelCount, size.codedPixelCount)
        }

        /// Takes account of the images of another box.
        mutating func add(_ other: AVIFTiles) {
            colorCount += other.colorCount
            alphaCount += other.alphaCount
            pixelCount = max(pixelCount, other.pixelCount)
            codedPixelCount = max(codedPixelCount, other.codedPixelCount)
        }
    }

    /// The successive big-endian numbers of a box.
    private struct ISOBoxNumbers {
        private let box: ISOBox
        private let bytes: UnsafeBufferPointer<UInt8>
        private var position = 0

        init(_ box: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            self.box = box
            self.bytes = bytes
        }

        /// Returns the next number of at most four bytes, or nil at the end of the box.
        mutating func next(_ count: Int) -> Int? {
            guard let number = box.number(bytes, at: position, count) else { return nil }
            position += count
            return Int(number)
        }
    }
#endif
