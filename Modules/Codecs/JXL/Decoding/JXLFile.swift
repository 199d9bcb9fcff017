#if JXL
    import AlcedoCore
    import CJXLShim

    /// A file whose properties have been read, and whose frames can be decoded.
    struct JXLFile {
        let header: JXLHeader
        /// The damage that is known before pixels are decoded, also of the metadata; nil when none was found.
        let damage: ImageDamage?
        /// The damage of the boxes and of the codestream.
        let structureDamage: ImageDamage?
        /// Whether the properties are those of the whole file.
        let isComplete: Bool
        /// Whether the headers of all frames were read.
        let hasAllFrames: Bool
        /// The bytes of the file. A file whose bytes are copied keeps its properties.
        var bytes: UnsafeBufferPointer<UInt8>
        private let limits: DecodingLimits
        private let threadCount: Int

        /// Reads the properties from the bytes of a file, or from the beginning of one. Damaged metadata is ignored.
        /// `bytes` must outlive the file.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `exceedsLimit` also for more layers than frames are allowed,
        ///   and for an image that exceeds the limits in a pixel format.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, format: PixelFormat = .rgba8,
            threadCount: Int = 1
        ) throws(ImageDecodingError) {
            let container = JXLContainer(bytes)
            guard !container.isForeign else {
                throw ImageDecodingError(.corrupt, "JPEG XL: the file has no signature of JPEG XL")
            }
            let reader = try JXLReader(ALCEDO_JXL_LAYERS, limits: limits)
            reader.feed(bytes)
            var header = try JXLHeader(reader.readInfo())
            try limits.check(header.size, format: header.format(for: format))
            let layers = try JXLLayers(reader, limits: limits)
            let metadata = container.metadata(bytes, limits: limits)
            header.add(layers, metadata: metadata.kept, isDamaged: metadata.isDamaged)
            header.metadataByteCount = container.decompressionByteCount(limits)
            try header.checkChannels(limits)
            try JXLFrameCheck(header, limits).check(bytes, in: container)
            self.header = header
            let boxError = ImageDecodingError(.truncated, "JPEG XL: the data ends within a box")
            let boxDamage = container.isTruncated ? ImageDamage(.harmless, boxError) : nil
            // The frames before the damage can be shown.
            let hasFrames = header.isAnimated && layers.durations.count > 1
            structureDamage = layers.damage.map { ImageDamage(hasFrames ? .harmless : .missingPixels, $0) } ?? boxDamage
            damage = .worst(structureDamage, header.info.metadataDamage)
            hasAllFrames = layers.damage == nil
            // The metadata of a file with boxes, and the frames of an animation, may be among missing bytes.
            isComplete = structureDamage == nil || !container.hasBoxes && !header.isAnimated
            self.bytes = bytes
            self.limits = limits
            self.threadCount = threadCount
        }

        /// Throws `exceedsLimit` for an image that exceeds the limits in a pixel format.
        func check(_ limits: DecodingLimits, format: PixelFormat) throws(ImageDecodingError) {
            try limits.check(header.size, format: header.format(for: format))
        }

        /// Returns a decoder of pixels that has read the header. `buffers` is the number of bytes that are held beside
        /// libjxl.
        func makeReader(
            _ purpose: alcedo_jxl_purpose, beside buffers: Int = 0
        ) throws(ImageDecodingError) -> JXLReader {
            let reader = try JXLReader(purpose, limits: limits, threadCount: threadCount)
            reader.feed(bytes)
            _ = try reader.readInfo()
            reader.setMemoryLimit(header.memoryLimit(beside: buffers, limits))
            return reader
        }

        /// Returns the image of a still file, or the first frame.
        func image(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let buffers = header.bufferByteCount(options, isIncremental: false)
            let reader = try makeReader(ALCEDO_JXL_PIXELS, beside: buffers)
            return try header.image(header.pixels(of: reader, options), options)
        }
    }

    extension JXLHeader {
        /// Returns the maximum number of bytes that decoding holds.
        func byteCount(_ options: DecodingOptions, isIncremental: Bool) -> Int {
            let buffers = bufferByteCount(options, isIncremental: isIncremental)
            return memoryLimit(beside: buffers, options.limits) + metadataByteCount + buffers
        }

        /// Decodes the next frame.
        func pixels(of reader: JXLReader, _ options: DecodingOptions) throws(ImageDecodingError) -> PixelBuffer {
            guard try reader.nextFrame() != nil else {
                throw ImageDecodingError(.corrupt, "JPEG XL: the file has no image")
            }
            let format = format(for: options.pixelFormat)
            let pixels = try PixelBuffer(size: size, format: format, alphaMode: .straight) {
                (memory, _) throws(ImageDecodingError) in
                guard case .complete = try reader.readPixels(format, into: memory) else {
                    throw ImageDecodingError(.truncated, "JPEG XL: the data ends within the image")
                }
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            return try converted(pixels, options)
        }

        /// Returns straight pixels as the options request, in stored orientation. Frames of an animation are opaque
        /// only without alpha, so that all of them have the same alpha mode.
        func converted(
            _ pixels: PixelBuffer, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> PixelBuffer {
            let isOpaque = !hasAlpha || frameCount == 1 && pixels.hasOnlyOpaqueSamples
            let marked = isOpaque ? pixels.reinterpreted(as: .opaque) : pixels
            let reduced = try marked.reduced(
                by: BoxReduction(from: size, orientation: orientation, towards: options.averagingTarget))
            return options.alphaMode == .premultiplied ? reduced.converted(to: .premultiplied) : reduced
        }

        /// Returns the image for converted pixels, with the orientation applied when the options request it.
        func image(_ pixels: PixelBuffer, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let isUpright = options.appliesOrientation
            return DecodedImage(
                pixels: isUpright ? try pixels.upright(from: orientation) : pixels, colorProfile: sampleProfile,
                orientation: isUpright ? .up : orientation, format: .jxl)
        }
    }
#endif
