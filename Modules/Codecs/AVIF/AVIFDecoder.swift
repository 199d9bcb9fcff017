#if AVIF
    public import AlcedoCore
    import AlcedoRuntime
    package import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.avif(usesThreads:)`.
    ///
    /// The image is cropped, rotated and mirrored as the properties `clap`, `irot` and `imir` state, in this order.
    /// Rotation and mirroring are the orientation. The orientation in EXIF or XMP is not applied, because the format
    /// repeats it there for information only. Sources: AV1 Image File Format; ISO/IEC 23008-12.
    ///
    /// libavif holds the planes of an image. With a target size, rows are averaged as they are converted, so the
    /// full-size image is never in memory in addition to its planes.
    package struct AVIFDecoder: ImageDecoding {
        /// Whether a second thread may be used. This does not change the pixels.
        package var usesThreads: Bool

        /// Creates a stateless decoder. By default, it uses the calling thread only.
        package init(usesThreads: Bool = false) { self.usesThreads = usesThreads }

        /// Reads the properties from the boxes. The data may be the beginning of a file that contains them.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the boxes are incomplete, `exceedsLimit` also
        ///   for more frames than `limits` allows.
        /// - Complexity: O(boxes and frames).
        package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedAVIF(data, limits: limits, threadCount: usesThreads ? 2 : 1)
        }

        package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
            IncrementalDecoder(AVIFDecodingState(options: options, threadCount: usesThreads ? 2 : 1))
        }
    }

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

    extension CodecRegistry.Entry {
        /// AVIF by libavif: still images and sequences. See `avif(usesThreads:)`.
        public static var avif: Self { avif(usesThreads: false) }

        /// Returns the codec of AVIF by libavif: still images and sequences, with 8, 10 and 12 bits, with alpha.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.avif(usesThreads: true))
        /// ```
        ///
        /// The format is recognized by the brands `avif` and `avis` among the first 64 bytes. At a quality of 1, the
        /// registry's encoder is lossless.
        ///
        /// The image is cropped, rotated and mirrored as the file states. The orientation in EXIF is ignored, as the
        /// format requires. The result is straight RGBA8, also when the file stores premultiplied color. It is RGBA16
        /// for files with 10 and 12 bits when the options request it. A target size averages pixels after they are
        /// decoded.
        ///
        /// Unusable metadata, a missing end of the file after the pixels, and items outside of the file that are not
        /// needed are harmless damage. So are missing or broken later frames: the sequence ends before them. So is
        /// alpha that is empty, outside of the file or cannot be decoded: the image is opaque. Other damage of the
        /// image that libavif detects means missing pixels: complete layers and rows of tiles are shown. The format has
        /// no checksums, so wrong samples are usually not detected. Damage in the pixels of a later frame is found when
        /// the frame is decoded.
        ///
        /// - Parameter usesThreads: Whether a second thread may be used to decode an image. This does not change the
        ///   pixels.
        public static func avif(usesThreads: Bool) -> Self {
            Self(
                format: .avif, decoder: AVIFDecoder(usesThreads: usesThreads), signatures: AVIFBrands.signatures,
                recognizes: AVIFBrands.contains,
                makeEncoder: { quality in
                    AVIFEncoder(compression: quality < 1 ? .lossy(quality: quality * 100) : .lossless)
                })
        }
    }

    extension ImageFormat {
        /// AV1 Image File Format, lossy and lossless.
        public static let avif = ImageFormat(rawValue: "avif")
    }

    /// The brands at the beginning of a file.
    private enum AVIFBrands {
        private static let names: [[UInt8]] = [Array("avif".utf8), Array("avis".utf8)]

        /// The beginnings of files: the first box with a brand as the major brand, or as one of the compatible brands
        /// after the version.
        static var signatures: [[UInt8?]] {
            let positions = [8] + Array(stride(from: 16, to: CodecRegistry.sniffedByteCount - 3, by: 4))
            return names.flatMap { name in positions.map { signature(name, at: $0) } }
        }

        private static func signature(_ name: [UInt8], at position: Int) -> [UInt8?] {
            var bytes = [UInt8?](repeating: nil, count: position + name.count)
            bytes.replaceSubrange(4..<8, with: "ftyp".utf8.map { $0 })
            bytes.replaceSubrange(position..<position + name.count, with: name.map { $0 })
            return bytes
        }

        /// Returns whether the first box lists a brand of AVIF within the bytes.
        @Sendable static func contains(_ prefix: RawSpan) -> Bool {
            prefix.withUnsafeBytes { memory in
                let bytes = memory.bindMemory(to: UInt8.self)
                guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
                let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
                // A list of brands is short. Other text may contain the same words.
                guard size <= 4_096 else { return false }
                return stride(from: 8, to: min(size, bytes.count) - 3, by: 4).contains { position in
                    position != 12 && names.contains { bytes[position..<position + 4].elementsEqual($0) }
                }
            }
        }
    }
#endif
