#if HEIF
    import AlcedoCore
    import FoundationEssentials

    /// The state of an image whose bytes arrive in pieces.
    ///
    /// All bytes are kept, and the final image is decoded from them at the end. A preview shows the rows of tiles that
    /// have arrived. It is decoded only when it is requested and twice as many rows of tiles have arrived as for the
    /// last one, so all previews together cost at most twice the image. If the file has a thumbnail whose bytes have
    /// arrived, the first preview can show it before there are rows, and it stands for missing rows.
    final class HEIFDecodingState: IncrementalDecodingState {
        private let options: DecodingOptions
        private let timeLimit: Duration
        private var data = Data()
        private var header: HEIFHeader?
        /// The number of bytes from which reading the header is tried again. The layout of a grid may be stored with
        /// the pixels.
        private var nextAttempt = 0
        /// The number of rows of tiles of the last preview.
        private var shownTileRows = 0
        /// The thumbnail of the file until it is decoded.
        private var thumbnail: HEIFHeader?
        private var thumbnailByteCount = 0
        private var background: PreviewBackground?

        init(options: DecodingOptions, timeLimit: Duration) {
            self.options = options
            self.timeLimit = timeLimit
        }

        var info: ImageInfo? { header?.info }

        var decodingByteCount: Int? {
            header.map { $0.byteCount(options, isIncremental: true) + thumbnailByteCount }
        }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            if data.isEmpty { data = bytes } else { data.append(bytes) }
            guard header == nil, !data.isEmpty, data.count >= nextAttempt else { return }
            try data.withDecoderInput(of: "HEIF") { bytes throws(ImageDecodingError) in
                do throws(ImageDecodingError) {
                    let header = try HEIFFile(bytes, limits: options.limits, format: options.pixelFormat).header
                    self.header = header
                    let side = PreviewBackground.maximumSide
                    let limits = DecodingLimits(maximumPixelCount: side * side, maximumByteCount: 16 << 20)
                    thumbnail = HEIFHeader.thumbnail(of: header, bytes, limits: limits)
                    thumbnailByteCount = thumbnail?.byteCount(thumbnailOptions, isIncremental: false) ?? 0
                } catch {
                    if error.code == .exceedsLimit || error.code == .outOfMemory { throw error }
                    // The steps grow, so the number of attempts is logarithmic.
                    nextAttempt = bytes.count + bytes.count / 8 + 16
                }
            }
        }

        func preview() throws(ImageDecodingError) -> ImagePreview? {
            guard let header else { return nil }
            let available = min(
                header.picture.availableRowCount(byteCount: data.count),
                header.alpha?.availableRowCount(byteCount: data.count) ?? Int.max)
            // A thumbnail is of no use for an image that is complete.
            let isComplete = available == header.picture.tiles.count / header.picture.columnCount
            let hasNewThumbnail = !isComplete && decodeThumbnail()
            let hasNewRows = available >= max(1, 2 * shownTileRows)
            guard hasNewRows || hasNewThumbnail && shownTileRows == 0 else { return nil }
            guard hasNewRows else { return try thumbnailPreview(header) }
            shownTileRows = available
            return try data.withDecoderInput(of: "HEIF") { bytes throws(ImageDecodingError) in
                let rows = HEIFRows(header, bytes, options: options, time: DecodingTime(timeLimit))
                guard var part = try rows.partialPixels() else { return nil }
                let rowCount = part.pixels.height * part.rowCount / header.crop.size.height
                background?.fill(&part.pixels, from: rowCount)
                return ImagePreview(image: try header.image(part.pixels, options), rowCount: rowCount)
            }
        }

        private var thumbnailOptions: DecodingOptions {
            DecodingOptions(appliesOrientation: false, pixelFormat: options.pixelFormat.shallow)
        }

        /// Decodes the thumbnail when its bytes have arrived. Returns whether it can be shown, which is true at most
        /// once. A damaged thumbnail is ignored.
        private func decodeThumbnail() -> Bool {
            guard let thumbnail, thumbnail.end <= data.count else { return false }
            self.thumbnail = nil
            let pixels = try? data.withDecoderInput(of: "HEIF") { bytes throws(ImageDecodingError) in
                try HEIFRows(thumbnail, bytes, options: thumbnailOptions, time: DecodingTime(timeLimit)).pixels()
            }
            background = pixels.flatMap { PreviewBackground($0) }
            return background != nil
        }

        /// Returns a preview that has no rows of the image yet.
        private func thumbnailPreview(_ header: HEIFHeader) throws(ImageDecodingError) -> ImagePreview? {
            var stored = options
            stored.appliesOrientation = false
            guard let pixels = background?.pixels(header.decodedSize(stored)) else { return nil }
            return ImagePreview(image: try header.image(pixels, options), rowCount: 0)
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            (thumbnail, background) = (nil, nil)
            // EXIF and XMP may be stored after the pixels.
            let image = try OpenedHEIF(data, limits: options.limits, timeLimit: timeLimit)
            header = image.properties
            return try image.decode(options)
        }
    }
#endif
