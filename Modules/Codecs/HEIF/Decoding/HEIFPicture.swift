#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The coded pictures of an image: one, or the tiles of a grid.
    struct HEIFPicture {
        /// The maximum number of tiles.
        static let maximumTileCount = 4_096
        /// The number of pixels that coded pictures may have although the image has fewer.
        private static let uncheckedPixelCount = 1 << 20

        let size: PixelSize
        let columnCount: Int
        /// The size of each tile. The last ones may exceed the image.
        let tileSize: PixelSize
        /// The tiles, row by row.
        let tiles: [CodedPicture]
        let color: ColorCodePoints

        /// Creates the image of one coded picture.
        ///
        /// - Throws: `corrupt` when the file declares another size, or none of the picture's configuration.
        init(_ extents: [Range<Int>], _ properties: HEIFProperties) throws(ImageDecodingError) {
            guard let box = properties.configuration else {
                throw ImageDecodingError(.corrupt, "HEIF: a picture has no configuration")
            }
            let configuration = try HEVCConfiguration(box)
            size = configuration.sequence.size
            guard (properties.size ?? size) == size else {
                throw ImageDecodingError(.corrupt, "HEIF: a picture does not have the size in the header")
            }
            columnCount = 1
            tileSize = size
            tiles = [CodedPicture(extents: extents, configuration: configuration)]
            color = properties.color ?? configuration.sequence.color
        }

        /// Creates an image from equal tiles.
        ///
        /// - Throws: `corrupt` when they do not cover the image, `unsupportedVariant` when they differ or their color
        ///   planes cannot be joined.
        private init(
            _ grid: Grid, _ tiles: [CodedPicture], _ color: ColorCodePoints
        ) throws(ImageDecodingError) {
            let sequence = tiles[0].configuration.sequence
            for tile in tiles { try sequence.check(tile.configuration.sequence) }
            size = grid.size
            columnCount = grid.columnCount
            tileSize = sequence.size
            self.tiles = tiles
            self.color = color
            guard tileSize.width * columnCount >= size.width, tileSize.height * grid.rowCount >= size.height else {
                throw ImageDecodingError(.corrupt, "HEIF: the tiles do not cover the image")
            }
            let hasOddWidth = tileSize.width % 2 == 1 && columnCount > 1
            let hasOddHeight = tileSize.height % 2 == 1 && grid.rowCount > 1
            guard
                !hasOddWidth || sequence.chroma == .monochrome || sequence.chroma == .full,
                !hasOddHeight || sequence.chroma != .half
            else { throw ImageDecodingError(.unsupportedVariant, "HEIF: the tiles have an odd size") }
        }

        /// Reads an image item.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `unsupportedVariant` for other items than HEVC pictures and
        ///   grids of them, `exceedsLimit` before the tiles are read.
        init(
            _ number: Int, _ item: HEIFItems.Item, _ properties: HEIFProperties, of items: HEIFItems,
            _ bytes: UnsafeBufferPointer<UInt8>, _ limits: DecodingLimits
        ) throws(ImageDecodingError) {
            let extents = try HEIFItems.location(of: item)
            switch item.type {
            case "hvc1": try self.init(extents, properties)
            case "grid":
                let grid = try Grid(extents, bytes)
                try limits.check(grid.size, format: .gray8)
                guard (properties.size ?? grid.size) == grid.size else {
                    throw ImageDecodingError(.corrupt, "HEIF: a grid does not have the size in the header")
                }
                let (tiles, color) = try Self.tiles(
                    items.targets(of: number, "dimg"), count: grid.columnCount * grid.rowCount, of: items)
                try self.init(grid, tiles, properties.color ?? color)
            default: throw ImageDecodingError(.unsupportedVariant, "HEIF: the image is not coded with HEVC")
            }
        }

        private static func tiles(
            _ numbers: [Int], count: Int, of items: HEIFItems
        ) throws(ImageDecodingError) -> (tiles: [CodedPicture], color: ColorCodePoints) {
            guard count <= maximumTileCount else {
                throw ImageDecodingError(
                    .exceedsLimit, "HEIF: \(count) tiles exceed the limit of \(maximumTileCount)")
            }
            guard numbers.count == count else { throw ImageDecodingError(.corrupt, "HEIF: a grid lacks tiles") }
            // Tiles usually share their configuration.
            var configurations: [Int: HEVCConfiguration] = [:]
            var color: ColorCodePoints?
            var tiles: [CodedPicture] = []
            for number in numbers {
                guard items.items[number]?.type != "grid" else {
                    throw ImageDecodingError(.exceedsLimit, "HEIF: a grid of grids exceeds the limit of one level")
                }
                guard let item = items.items[number], item.type == "hvc1" else {
                    throw ImageDecodingError(.unsupportedVariant, "HEIF: a tile is not coded with HEVC")
                }
                let extents = try HEIFItems.location(of: item)
                let properties = try HEIFProperties(item, of: items)
                guard let box = properties.configuration else {
                    throw ImageDecodingError(.corrupt, "HEIF: a picture has no configuration")
                }
                let configuration: HEVCConfiguration
                if let known = configurations[box.payload.lowerBound] {
                    configuration = known
                } else {
                    configuration = try HEVCConfiguration(box)
                    configurations[box.payload.lowerBound] = configuration
                }
                let tileSize = configuration.sequence.size
                let layout = HEIFLayout(properties.transforms, of: tileSize)
                guard layout.orientation == .up, layout.crop.covers(tileSize) else {
                    throw ImageDecodingError(.unsupportedVariant, "HEIF: a tile is cropped, rotated or mirrored")
                }
                if tiles.isEmpty { color = properties.color ?? configuration.sequence.color }
                tiles.append(CodedPicture(extents: extents, configuration: configuration))
            }
            guard let color else { throw ImageDecodingError(.corrupt, "HEIF: a grid lacks tiles") }
            return (tiles, color)
        }

        var sequence: SequenceParameterSet { tiles[0].configuration.sequence }

        /// Whether the image is one coded picture of the same size.
        var isSingle: Bool { tiles.count == 1 && tileSize == size }

        /// The offset after the last byte that the image needs.
        var end: Int { tiles.map(\.end).max() ?? 0 }

        /// Returns the number of rows of tiles, from the top, whose bytes are present.
        func availableRowCount(byteCount: Int) -> Int {
            (tiles.firstIndex { $0.end > byteCount } ?? tiles.count) / columnCount
        }

        /// The number of bytes that decoding holds: the planes and block properties of one picture, its bitstream in
        /// three copies, and the planes of a row of tiles.
        var byteCount: Int {
            let sampleSize = sequence.bitDepth > 8 ? 2 : 1
            let coded = (sequence.codedSize.width + 64) * (sequence.codedSize.height + 64)
            let picture = coded * ((sequence.chroma == .monochrome ? 2 : 6) * sampleSize + 2)
            let stream = tiles.map(\.streamByteCount).max() ?? 0
            let rows = isSingle ? 0 : 3 * size.width * (tileSize.height + 2) * sampleSize
            return picture + 3 * stream + rows + 1 << 20
        }

        /// Throws `exceedsLimit` for a picture that exceeds the limits in a pixel format.
        func check(_ limits: DecodingLimits, format: PixelFormat) throws(ImageDecodingError) {
            try limits.check(size, format: format)
            let coded = sequence.codedSize
            // Pictures are coded in blocks, which may exceed a picture, and tiles may exceed a small image.
            let padded = (size.width + 64) * (size.height + 64)
            if coded.pixelCount > max(Self.uncheckedPixelCount, padded) { try limits.check(coded, format: .gray8) }
            // The visible parts of many tiles may form a small image.
            let total = coded.pixelCount * tiles.count
            guard total <= max(Self.uncheckedPixelCount, 2 * padded, limits.maximumPixelCount) else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "HEIF: \(total) pixels of tiles exceed the limit of \(limits.maximumPixelCount) pixels "
                        + "(DecodingLimits.maximumPixelCount)")
            }
        }
    }

    /// The payload of an item that joins tiles. Source: ISO/IEC 23008-12, section 6.6.2.3.
    private struct Grid {
        /// The maximum width and height, which keeps products of sizes small.
        private static let maximumSide = 1 << 28

        let columnCount: Int
        let rowCount: Int
        let size: PixelSize

        init(_ extents: [Range<Int>], _ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
            guard let extent = extents.first, extents.count == 1 else {
                throw ImageDecodingError(.unsupportedVariant, "HEIF: a grid is stored in parts")
            }
            guard extent.upperBound <= bytes.count else {
                throw ImageDecodingError(.truncated, "HEIF: the data ends within the header")
            }
            var reader = BoxReader(bytes, extent)
            guard try reader.number(1) == 0 else {
                throw ImageDecodingError(.unsupportedVariant, "HEIF: a grid has an unknown version")
            }
            let fieldSize = try reader.number(1) & 1 == 1 ? 4 : 2
            rowCount = try reader.number(1) + 1
            columnCount = try reader.number(1) + 1
            size = PixelSize(width: try reader.number(fieldSize), height: try reader.number(fieldSize))
            guard max(size.width, size.height) <= Self.maximumSide else {
                throw ImageDecodingError(.exceedsLimit, "HEIF: a grid of \(size) pixels is too large")
            }
        }
    }
#endif
