#if AVIF
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

        /// The offset of the next box of the file.
        private var offset = 0
        private var isSequence = false
        private var isStill = false
        private var hasMeta = false
        private var hasMovie = false
        private var hasMediaData = false
        private var hasBrand: Bool { isStill || isSequence }
        /// Whether the file does not begin with a list of brands that contains one of AVIF.
        private(set) var isForeign = false
        /// Whether the last box ends after the received bytes.
        private(set) var isTruncated = true
        /// The size with the most pixels that an item or a track declares.
        private(set) var largestSize: PixelSize?
        /// The number of coded items.
        private(set) var itemCount = 0
        /// Whether the still image of the file has an alpha image, although its payload may be empty.
        private(set) var declaresAlpha = false
        /// The offset after the last byte of all items, of which libavif reads only those that it needs.
        private(set) var itemEnd: UInt64 = 0
        /// The coded items that are decoded. Their sizes include those of tracks.
        private(set) var tiles = AVIFTiles()
        /// Whether a tile of a shown image is a grid itself.
        private(set) var hasGridOfGrids = false
        /// The tables of the boxes.
        private(set) var tables = AVIFTables()
        /// The tracks of a sequence.
        private(set) var tracks: [AVIFTrack] = []

        private static let knownTypes: Set<UInt32> = Set(
            (["ftyp", "meta", "moov", "mdat", "free", "skip", "uuid", "idat", "moof", "mfra", "wide"] as [StaticString])
                .map(ISOBox.type))

        /// Reads the boxes that have arrived since the last call. `bytes` must begin at the start of the file.
        mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) {
            while offset < bytes.count, !isForeign {
                guard let box = ISOBox(bytes, at: offset, limit: nil) else {
                    // Fewer bytes than a header may be the beginning of a further box, or other bytes after the image.
                    isTruncated = bytes.count - offset < 16 && (isMissingBoxes || !hasMediaData)
                    return
                }
                guard offset > 0 || box.type == ISOBox.type("ftyp") else {
                    isForeign = true
                    break
                }
                guard box.end <= bytes.count else {
                    // Other bytes after the image are not a box, and are ignored.
                    isTruncated = Self.knownTypes.contains(box.type) || !hasMediaData
                    return
                }
                read(box, bytes)
                offset = box.end
            }
            isTruncated = !isForeign && isMissingBoxes
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

        private mutating func read(_ box: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            switch box.type {
            case ISOBox.type("ftyp"): readBrands(box, bytes)
            case ISOBox.type("meta"):
                hasMeta = true
                tables.addItems(box, bytes)
                readItems(box, bytes)
            case ISOBox.type("moov"):
                hasMovie = true
                declaresAlpha = false
                let boxes = box.descendants(["trak"], bytes)
                for track in boxes { tables.addTrack(track, bytes) }
                tracks = boxes.map { AVIFTrack($0, bytes) }
                for track in tracks {
                    include(track.size)
                    tiles.include(track.size)
                }
            case ISOBox.type("mdat"): hasMediaData = true
            default: break
            }
        }

        private mutating func include(_ size: PixelSize) {
            if size.pixelCount > largestSize?.pixelCount ?? 0 { largestSize = size }
        }

        /// Reads the major and the compatible brands. Source: AV1 Image File Format, sections 6 and 9.
        private mutating func readBrands(_ box: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            let (still, sequence) = (UInt64(ISOBox.type("avif")), UInt64(ISOBox.type("avis")))
            var position = 0
            while let brand = box.number(bytes, at: position, 4) {
                if brand == still { isStill = true }
                if brand == sequence { isSequence = true }
                // The minor version follows the major brand.
                position += position == 0 ? 8 : 4
            }
            isForeign = !hasBrand
        }

        /// Counts the coded items and finds their sizes.
        private mutating func readItems(_ meta: ISOBox, _ bytes: UnsafeBufferPointer<UInt8>) {
            // A file with more entries is refused.
            guard tables.entryCount <= AVIFTables.maximumEntryCount else { return }
            let items = AVIFItems(meta, bytes)
            itemCount += items.codedCount
            itemEnd = max(itemEnd, items.end)
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
