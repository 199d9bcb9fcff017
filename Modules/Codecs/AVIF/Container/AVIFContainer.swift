#if AVIF
    import AlcedoBoxes
    import AlcedoCore

    /// The boxes of an AVIF file that libavif does not report, read as bytes arrive.
    ///
    /// libavif itself reads all other boxes. This type tells truncated files from damaged ones, finds what exceeds
    /// limits before libavif allocates memory for it, and reads the number of plays, which libavif 0.11 ignores.
    struct AVIFContainer {
        /// The maximum number of coded items, such as the tiles of a grid.
        static let maximumItemCount = 1_024
        /// The approximate memory for each coded item. libavif 0.11 creates an AV1 decoder for each.
        static let itemByteCount = 450_000

        private var boxes = FileBoxes()
        private var isSequence = false
        private var isStill = false
        private var hasMeta = false
        private var hasMovie = false
        private var hasBrand: Bool { isStill || isSequence }
        /// Whether the file does not begin with a list of brands that contains one of AVIF.
        private(set) var isForeign = false
        /// Whether the last box ends after the received bytes, or a box that the brands require is missing.
        var isTruncated: Bool { !isForeign && boxes.isTruncated }
        /// The largest size, by its number of pixels, that an item or a track declares.
        private(set) var largestSize: PixelSize?
        private(set) var itemCount = 0
        /// Whether the still image of the file has an alpha image, although its payload may be empty.
        private(set) var declaresAlpha = false
        /// The offset after the last byte of all items, of which libavif reads only those that it needs.
        private(set) var itemEnd: UInt64 = 0
        /// The coded items that are decoded. Their sizes include those of tracks.
        private(set) var tiles = AVIFTiles()
        /// Whether a tile of a shown image is a grid itself.
        private(set) var hasGridOfGrids = false
        private(set) var tables = AVIFTables()
        /// The tracks of a sequence.
        private(set) var tracks: [AVIFTrack] = []

        /// Reads the boxes that have arrived since the last call. `bytes` must begin at the start of the file.
        mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) {
            while !isForeign, let box = boxes.next(bytes, hasHeader: !isMissingBoxes) { read(box) }
            if boxes.isForeign { isForeign = true }
        }

        /// Whether a box is missing that the brands require.
        var isMissingBoxes: Bool { !hasBrand || isStill && !hasMeta || isSequence && !hasMovie }

        /// Whether a box with the properties of an image has arrived.
        var hasHeader: Bool { hasMeta || hasMovie }

        /// The track of the images, or nil when the file has none.
        var imageTrack: AVIFTrack? { tracks.first { $0.isAV1 && !$0.isAuxiliary } }

        /// Whether the auxiliary track is known to hold something else than alpha, which libavif 0.11 does not check.
        var hasOtherAuxiliaryTrack: Bool {
            let auxiliary = tracks.filter { $0.isAV1 && $0.isAuxiliary }
            return !auxiliary.isEmpty && auxiliary.allSatisfy { $0.isAlpha == false }
        }

        /// The maximum number of pixels that a box may declare for an image.
        var declaredPixelLimit: Int { largestSize?.codedPixelCount ?? Int.max }

        /// The maximum number of pixels of a coded image. A larger one contradicts the declared sizes of the decoded
        /// images, from which the memory for decoding is computed.
        var codedPixelLimit: Int { tiles.codedPixelCount > 0 ? tiles.codedPixelCount : declaredPixelLimit }

        private mutating func read(_ box: Box) {
            switch box.type {
            case "ftyp": readBrands(box)
            case "meta":
                hasMeta = true
                itemEnd = max(itemEnd, tables.addItems(box))
                readItems(box)
            case "moov":
                hasMovie = true
                declaresAlpha = false
                tracks = []
                for child in box.children() where child.type == "trak" {
                    tables.addTrack(child)
                    // The file is refused, so that further tracks would only take memory.
                    guard tables.entryCount <= AVIFTables.maximumEntryCount else { break }
                    let track = AVIFTrack(child)
                    tracks.append(track)
                    include(track.size)
                    tiles.include(track.size)
                }
            default: break
            }
        }

        private mutating func include(_ size: PixelSize) {
            if size.pixelCount > largestSize?.pixelCount ?? 0 { largestSize = size }
        }

        /// Reads the major and the compatible brands. Source: AV1 Image File Format, sections 6 and 9.
        private mutating func readBrands(_ box: Box) {
            var reader = box.reader
            while let brand = reader.unsigned(4).map(BoxType.init(code:)) {
                if brand == "avif" { isStill = true }
                if brand == "avis" { isSequence = true }
                // The minor version follows the major brand.
                if reader.position == box.payload.lowerBound + 4, !reader.advance(4) { break }
            }
            isForeign = !hasBrand
        }

        /// Counts the coded items and finds their sizes.
        private mutating func readItems(_ meta: Box) {
            // A file with more entries is refused.
            guard tables.entryCount <= AVIFTables.maximumEntryCount else { return }
            let items = AVIFItems(meta)
            itemCount += items.codedCount
            if !hasMovie { declaresAlpha = items.declaresAlpha }
            for size in items.declaredSizes { include(size) }
            tiles.add(items.tiles)
            if items.hasGridOfGrids { hasGridOfGrids = true }
        }
    }

    extension PixelSize {
        /// The number of pixels of an image of this size with the rows and columns that AV1 adds at the edges.
        var codedPixelCount: Int {
            let side = { (length: Int) in (length + 127) / 128 * 128 + 128 }
            return PixelSize(width: side(width), height: side(height)).pixelCount
        }
    }
#endif
