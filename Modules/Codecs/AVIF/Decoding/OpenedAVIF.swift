#if AVIF
    import AlcedoCore
    import AlcedoRuntime
    import FoundationEssentials

    /// An AVIF whose boxes libavif has read. The metadata of a file whose end is missing may be missing.
    final class OpenedAVIF: FileReading {
        let file: OpenedFile<AVIFFile>
        private let limits: DecodingLimits
        private let threadCount: Int
        let properties: AVIFHeader
        let header: ImageHeader

        init(_ data: Data, limits: DecodingLimits, threadCount: Int) throws(ImageDecodingError) {
            self.limits = limits
            self.threadCount = threadCount
            file = try OpenedFile(data, of: "AVIF", limits: limits) { bytes, limits throws(ImageDecodingError) in
                let file = try AVIFFile(bytes, limits: limits, threadCount: threadCount)
                // The pixels of gray8 are the smallest. Decoding checks those that are requested.
                try file.check(limits, format: file.header.format(for: .gray8))
                return file
            }
            properties = try file.withFile { file, _ throws(ImageDecodingError) in file.header }
            header = ImageHeader(properties.info)
        }

        /// Returns the properties.
        ///
        /// - Throws: `truncated` when both the pixels and the EXIF or XMP data are incomplete; `exceedsLimit`.
        func info() throws(ImageDecodingError) -> ImageInfo {
            try file.withFile { file, _ throws(ImageDecodingError) in
                try file.check(limits, format: file.header.format(for: .rgba8))
                // The metadata of a file whose end is missing may be among the missing bytes.
                if !file.readsMetadata, let damage = file.damage, damage.kind == .missingPixels { throw damage.error }
                return file.header.info
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            do throws(ImageDecodingError) {
                return try file.takeFile(options.limits) { file, bytes throws(ImageDecodingError) in
                    try image(file, bytes, options)
                }
            } catch {
                guard options.allows(error), var image = try part(options) else { throw error }
                image.damage = ImageDamage(.missingPixels, error)
                return image
            }
        }

        /// Sends the rows of the image or of the first frame, converted from the planes some rows at a time.
        ///
        /// libavif decodes all planes first. Rotated and mirrored images are decoded as a whole.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            let options = options.forRows
            return try file.takeFileForRows(options.limits) { file, bytes in
                try check(file, options)
                let (file, damage) = try decoded(file, bytes, options)
                let rows = AVIFRows(file.reader, file.header, options: options)
                let isOpaque = file.reader.isOpaque(file.header)
                if options.appliesOrientation, file.header.orientation != .up {
                    try file.header.image(rows.pixels(isOpaque: isOpaque), options).sendRows(to: consumer)
                } else {
                    try rows.send(isOpaque: isOpaque, to: consumer)
                }
                return damage
            }
        }

        /// Returns the maximum number of bytes that decoding holds: the planes of libavif and of the AV1 decoder, the
        /// output, and the upright image when it is rotated.
        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in
                try file.check(options.limits, format: file.header.format(for: options.pixelFormat))
                return file.header.byteCount(options, isIncremental: false)
            }
        }

        /// Returns the image whose first frame is complete.
        private func image(
            _ file: AVIFFile, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> DecodedImage {
            try check(file, options)
            guard file.header.frameCount > 1, options.includesAnimation else {
                let (file, damage) = try decoded(file, bytes, options)
                let isOpaque = file.reader.isOpaque(file.header)
                var image = try file.header.image(
                    AVIFRows(file.reader, file.header, options: options).pixels(isOpaque: isOpaque), options)
                image.damage = damage
                return image
            }
            var (image, damage) = try withOpaqueFallback(file, options) { readsAlpha throws(ImageDecodingError) in
                let animation = try AVIFAnimation(
                    bytes, options: options, threadCount: threadCount, readsAlpha: readsAlpha)
                try options.limits.check(frameCount: animation.frameCount, of: animation.storedSize)
                var image = try animation.image(animation.pixels(at: 0))
                if animation.frameCount > 1 { image.frames = animation }
                return image
            }
            image.damage = damage
            return image
        }

        /// Decodes the first frame. Returns the file, or the same file without alpha, and the damage that was
        /// tolerated.
        private func decoded(
            _ file: AVIFFile, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> (AVIFFile, ImageDamage?) {
            try withOpaqueFallback(file, options) { readsAlpha throws(ImageDecodingError) in
                guard !readsAlpha else {
                    try readFirstFrame(of: file)
                    return file
                }
                let opaque = try AVIFFile(
                    bytes, limits: options.limits, threadCount: threadCount, readsAlpha: false)
                try check(opaque, options)
                try readFirstFrame(of: opaque)
                return opaque
            }
        }

        /// Returns the result of decoding a first frame, or of decoding it without alpha if only the alpha is damaged,
        /// and the damage that was tolerated.
        private func withOpaqueFallback<Result>(
            _ file: AVIFFile, _ options: DecodingOptions,
            _ body: (_ readsAlpha: Bool) throws(ImageDecodingError) -> Result
        ) throws(ImageDecodingError) -> (Result, ImageDamage?) {
            try options.forRows.check(file.damage)
            do throws(ImageDecodingError) { return (try body(true), file.damage) } catch {
                // If the color is damaged too, the error is that of the whole image.
                guard file.header.hasAlpha, [.corrupt, .truncated].contains(error.code),
                    let opaque = try? body(false)
                else { throw error }
                return (opaque, AVIFFile.alphaDamage)
            }
        }

        /// Throws `exceedsLimit` for a file that exceeds the limits.
        private func check(_ file: AVIFFile, _ options: DecodingOptions) throws(ImageDecodingError) {
            try file.check(options.limits, format: file.header.format(for: options.pixelFormat))
            // The planes of a sequence and of a grid are several times as large as the result.
            let count = file.header.byteCount(options, isIncremental: false)
            let isLarge = file.header.frameCount > 1 || file.header.tiles.colorCount > 1
            guard !isLarge || count <= options.limits.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "AVIF: the planes, the tiles and the result need \(count.byteCountText); the limit is "
                        + "\(options.limits.maximumByteCount) bytes (DecodingLimits.maximumByteCount)")
            }
        }

        private func readFirstFrame(of file: AVIFFile) throws(ImageDecodingError) {
            guard try file.reader.readFrame(0) else {
                throw ImageDecodingError(.truncated, "AVIF: the data ends within the image")
            }
        }

        /// Returns the part of a damaged file that can be decoded, or nil when there is none.
        private func part(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage? {
            // The planes of the file that could not be decoded have been released.
            try file.withFile(options.limits) { file, bytes throws(ImageDecodingError) in
                try file.check(options.limits, format: file.header.format(for: options.pixelFormat))
                guard file.header.frameCount == 1 else { return nil }
                var container = AVIFContainer()
                container.advance(bytes)
                guard let part = try? AVIFPartialImage(bytes, container, options: options), try part.advance(bytes),
                    let pixels = part.pixels
                else { return nil }
                return try file.header.image(pixels, options)
            }
        }
    }

    extension AVIFHeader {
        /// Returns the maximum number of bytes that decoding holds.
        func byteCount(_ options: DecodingOptions, isIncremental: Bool) -> Int {
            let format = format(for: options.pixelFormat)
            let output = PixelBuffer.byteCount(size: decodedSize(options), format: format) ?? 0
            var stored = options
            stored.appliesOrientation = false
            let isRotated = options.appliesOrientation && orientation != .up
            let rotated = isRotated ? PixelBuffer.byteCount(size: decodedSize(stored), format: format) ?? 0 : 0
            let strips = 4 << 20
            // The AV1 decoder keeps up to eight reference frames of a sequence. For a still image, these are the planes
            // of the decoder, those of a grid, and the properties of each block. The tiles of a grid are larger than
            // the image, and each has its own decoder.
            let planes =
                frameCount > 1
                ? 10 * planeByteCount : max(3 * planeByteCount, planeByteCount + 2 * tileByteCount)
            let items = itemCount * AVIFContainer.itemByteCount
            return planes + items + output + rotated + strips + (isIncremental ? output : 0)
        }
    }
#endif
