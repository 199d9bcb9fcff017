#if AVIF
    import AlcedoBoxes
    import AlcedoCore

    /// The items of a box `meta`: which of them are coded images, and which of those libavif decodes.
    ///
    /// The tables must be within the limit of their entries. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12,
    /// sections 6.6 and 9.3.
    struct AVIFItems {
        private struct Reference {
            let type: BoxType
            let from: Int
            let to: [Int]
        }

        private var coded: Set<Int> = []
        /// The number of the image that is shown.
        private var primary: Int?
        /// The declared sizes. For an item with several sizes, the largest one by its number of pixels.
        private var sizes: [Int: PixelSize] = [:]
        /// The numbers of the items with the property of an alpha image.
        private var alphas: Set<Int> = []
        private var references: [Reference] = []
        /// The sizes that the properties declare, also those of no item.
        private(set) var declaredSizes: [PixelSize] = []

        init(_ meta: Box) {
            for box in meta.children(skipping: 4) {
                switch box.type {
                case "pitm":
                    let isLong = box.number(at: 0, 1) != 0
                    primary = box.number(at: 4, isLong ? 4 : 2).map { Int($0) }
                case "iinf": readTypes(box)
                case "iprp": readProperties(box)
                case "iref": readReferences(box)
                default: break
                }
            }
        }

        var codedCount: Int { coded.count }

        /// The coded images that libavif decodes: the shown image or its tiles, and those of its alpha.
        var tiles: AVIFTiles {
            guard let primary else { return AVIFTiles() }
            let color = union([primary], tilesOf: [primary])
            // Alpha belongs to the image, or to each of its tiles.
            let auxiliary = references.filter { reference in
                reference.type == "auxl" && alphas.contains(reference.from)
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
                reference.type == "auxl" && alphas.contains(reference.from)
                    && reference.to.contains(primary)
                    && !union([reference.from], tilesOf: [reference.from]).isDisjoint(with: coded)
            }
        }

        /// Whether a tile of the shown image is a grid itself.
        var hasGridOfGrids: Bool {
            guard let primary else { return false }
            let tiles = union([], tilesOf: [primary])
            return references.contains { $0.type == "dimg" && tiles.contains($0.from) && !coded.contains($0.from) }
        }

        private func union(_ items: Set<Int>, tilesOf images: Set<Int>) -> Set<Int> {
            let grid: BoxType = "dimg"
            return references.reduce(into: items) { result, reference in
                if reference.type == grid, images.contains(reference.from) { result.formUnion(reference.to) }
            }
        }

        private mutating func readTypes(_ list: Box) {
            let countSize = (list.number(at: 0, 1) ?? 0) == 0 ? 2 : 4
            for entry in list.children(skipping: 4 + countSize) {
                let numberSize = (entry.number(at: 0, 1) ?? 0) < 3 ? 2 : 4
                guard entry.number(at: 4 + numberSize + 2, 4).map(BoxType.init(code:)) == "av01",
                    let number = entry.number(at: 4, numberSize)
                else { continue }
                coded.insert(Int(number))
            }
        }

        private mutating func readProperties(_ list: Box) {
            let properties = list.child("ipco").map { Array($0.children()) } ?? []
            let propertySizes = properties.map(Self.size)
            let isAlpha = properties.map { $0.type == "auxC" && Self.namesAlpha($0) }
            declaredSizes += propertySizes.compactMap { $0 }
            for table in list.children() where table.type == "ipma" {
                var reader = table.reader
                guard let head = reader.integer(4), let count = reader.integer(4) else { continue }
                let numberSize = head >> 24 == 0 ? 2 : 4
                let indexSize = head & 1 == 0 ? 1 : 2
                for _ in 0..<count {
                    guard let item = reader.integer(numberSize), let length = reader.integer(1) else { break }
                    for _ in 0..<length {
                        guard let value = reader.integer(indexSize) else { break }
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

        private mutating func readReferences(_ list: Box) {
            let numberSize = (list.number(at: 0, 1) ?? 0) == 0 ? 2 : 4
            for box in list.children(skipping: 4) {
                var reader = box.reader
                guard let from = reader.integer(numberSize), let count = reader.integer(2) else { continue }
                let targets = (0..<count).compactMap { _ in reader.integer(numberSize) }
                references.append(Reference(type: box.type, from: from, to: targets))
            }
        }

        /// Returns the size that a property `ispe` declares, or nil for other properties.
        private static func size(_ property: Box) -> PixelSize? {
            guard property.type == "ispe", let width = property.number(at: 4, 4),
                let height = property.number(at: 8, 4)
            else { return nil }
            return PixelSize(width: Int(width), height: Int(height))
        }

        private static func namesAlpha(_ property: Box) -> Bool {
            let name = property.bytes[property.payload.dropFirst(4)]
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
#endif
