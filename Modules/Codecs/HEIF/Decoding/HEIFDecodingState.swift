#if HEIF
    import AlcedoCore
    import FoundationEssentials

    /// The state of an image whose bytes arrive in pieces.
    ///
    /// All bytes are kept, and the final image is decoded from them at the end. A preview shows the rows of tiles that
    /// have arrived. It is decoded only when it is requested and twice as many rows of tiles have arrived as for the
    /// last one, so all previews together cost at most twice the image.
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

        init(options: DecodingOptions, timeLimit: Duration) {
            self.options = options
            self.timeLimit = timeLimit
        }

        var info: ImageInfo? { header?.info }

        var decodingByteCount: Int? { header.map { $0.byteCount(options, isIncremental: true) } }

        func append(_ bytes: Data) throws(ImageDecodingError) {
            if data.isEmpty { data = bytes } else { data.append(bytes) }
            guard header == nil, !data.isEmpty, data.count >= nextAttempt else { return }
            try data.withDecoderInput(of: "HEIF") { bytes throws(ImageDecodingError) in
                do throws(ImageDecodingError) {
                    header = try HEIFFile(bytes, limits: options.limits, format: options.pixelFormat).header
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
            guard available >= max(1, 2 * shownTileRows) else { return nil }
            shownTileRows = available
            return try data.withDecoderInput(of: "HEIF") { bytes throws(ImageDecodingError) in
                let rows = HEIFRows(header, bytes, options: options, time: DecodingTime(timeLimit))
                guard let part = try rows.partialPixels() else { return nil }
                let rowCount = part.pixels.height * part.rowCount / header.crop.size.height
                return ImagePreview(image: try header.image(part.pixels, options), rowCount: rowCount)
            }
        }

        func finish() throws(ImageDecodingError) -> DecodedImage {
            // EXIF and XMP may be stored after the pixels.
            let image = try OpenedHEIF(data, limits: options.limits, timeLimit: timeLimit)
            header = image.properties
            return try image.decode(options)
        }
    }
#endif
