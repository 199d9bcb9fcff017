#if AVIF
    public import AlcedoCore
    import CAVIFShim
    package import FoundationEssentials

    /// The encoder of `ImageEncoder.avif(quality:lossless:speed:threads:keepsShortDelays:)`, whose comment describes
    /// the behavior.
    package struct AVIFEncoder: MetadataEncoding {
        package enum Compression: Sendable, Hashable {
            case lossy(quality: Double)
            case lossless
        }

        package var compression: Compression
        package var speed: Int
        package var threads: Int
        /// The metadata to write. The format has no place for IPTC, and stores the resolution in EXIF.
        package var metadata = ImageMetadata()
        package var keepsShortDelays: Bool

        package init(
            compression: Compression = .lossy(quality: 60), speed: Int = 6, threads: Int = 1,
            keepsShortDelays: Bool = false
        ) {
            self.keepsShortDelays = keepsShortDelays
            self.compression = compression
            self.speed = speed
            self.threads = threads
        }

        package var format: ImageFormat { .avif }

        package func limitingQuality(to quality: Double) -> Self? {
            guard case .lossy(let own) = compression else { return nil }
            var encoder = self
            encoder.compression = .lossy(quality: min(own, quality * 100))
            return encoder
        }

        /// Returns true, because the format supports animations and transparency.
        package func canEncode(_ image: DecodedImage) -> Bool { true }

        /// Returns the memory of the AV1 encoder and the file, measured for noise.
        package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
            size.encodingByteCount(perPixel: format.isDeep ? 80 : 40)
        }

        /// Returns the memory for the frames that the AV1 encoder compares, measured for noise, and for the file.
        package func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
            guard frameCount > 1 else { return encodingByteCount(of: size, format: format) }
            return size.encodingByteCount(perPixel: format.isDeep ? 1280 : 640)
                .addingClamped(
                    size.framesByteCount(
                        format: format, frameCount: frameCount, perPixel: format.isDeep ? 4 : 2))
        }

        /// Encodes the image with all frames of an animation, which are requested one at a time.
        ///
        /// - Throws: ``/AlcedoCore/ImageEncodingError``: `failed` when libavif fails or a frame cannot be decoded, and
        ///   `outOfMemory`. A side above 65,535 pixels is `unsupportedImage`, and so is a frame that does not fill the
        ///   canvas, or that has alpha after an opaque first frame.
        /// - Complexity: O(*w* × *h*) for each frame. Memory: the planes, the memory of the AV1 encoder, which is many
        ///   times larger, and the file; for an animation, also the frames that the AV1 encoder compares.
        package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
            try encode(image, maximumByteCount: .max)
        }

        /// Encodes the image as ``encode(_:)`` does. Throws `exceedsLimit` when the bytes exceed the limit, which is
        /// known at the end, because libavif does not tell the number of bytes of encoded frames.
        package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
            try Self.check(image.size)
            let isGray = image.pixels.format.isGray || image.isGrayWithAlpha
            // A profile would take precedence over the code points of HDR, and its curves are those of SDR.
            let range = ColorDescription(highDynamicRangeOf: image.colorProfile).flatMap { $0.isFullRange ? $0 : nil }
            let profile = range == nil ? ICCProfile.encoded(image.colorProfile, isGray: isGray) ?? Data() : Data()
            // Without EXIF data, the orientation is written only as a property of the image.
            let written = metadata.writtenEXIF(
                metadata.exif == nil ? .up : image.orientation, image.size, holdsResolution: false)
            // libavif rejects an image whose EXIF data has no TIFF header.
            let isValid = written.starts(with: "II*\0".utf8) || written.starts(with: "MM\0*".utf8)
            let exif = isValid ? written : []
            let xmp = metadata.xmp.map { [UInt8]($0) } ?? []
            // Absent data is empty instead of nil, so both addresses are valid during the call.
            var frames = try FrameSequence(image, format: "AVIF")
            return try profile.bytes.withUnsafeBytes { profile throws(ImageEncodingError) in
                try exif.withUnsafeBufferPointer { exif throws(ImageEncodingError) in
                    try xmp.withUnsafeBufferPointer { xmp throws(ImageEncodingError) in
                        var settings = settings(image, isGray: isGray, isSequence: frames.isAnimated)
                        (settings.icc, settings.icc_size) = Self.pointer(profile)
                        if let points = range?.codePoints {
                            (settings.primaries, settings.transfer) = (points.primaries, points.transfer)
                        }
                        (settings.exif, settings.exif_size) = Self.pointer(UnsafeRawBufferPointer(exif))
                        (settings.xmp, settings.xmp_size) = Self.pointer(UnsafeRawBufferPointer(xmp))
                        return try encode(image, &frames, settings, maximumByteCount: maximumByteCount)
                    }
                }
            }
        }

        private func encode(
            _ image: DecodedImage, _ frames: inout FrameSequence, _ settings: alcedo_avif_encoder_settings,
            maximumByteCount: Int
        ) throws(ImageEncodingError) -> Data {
            let writer = try AVIFWriter(settings)
            guard frames.isAnimated else {
                try writer.add(image.pixels, duration: .zero)
                let file = try writer.finish()
                guard file.count <= maximumByteCount else { throw .exceeds(maximumByteCount, .avif) }
                return file
            }
            while let (index, pixels, _) = try frames.next() {
                guard pixels.size == image.size else {
                    throw ImageEncodingError(
                        .unsupportedImage, "AVIF: frame \(index) does not have the size of the canvas")
                }
                try writer.add(
                    pixels, duration: image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays))
            }
            let file = try writer.finish()
            // libavif holds the encoded frames beside the file.
            guard file.count <= maximumByteCount / 2 else { throw .exceeds(maximumByteCount, .avif) }
            // Without an edit list, a sequence plays forever.
            guard let playCount = image.frames?.playCount else { return file }
            return AVIFEditList(playCount: min(max(playCount, 1), Int(Int32.max))).added(to: file)
        }

        /// Returns the settings of libavif, without metadata.
        private func settings(_ image: DecodedImage, isGray: Bool, isSequence: Bool) -> alcedo_avif_encoder_settings {
            let pixels = image.pixels
            var settings = alcedo_avif_encoder_settings()
            settings.width = UInt32(pixels.size.width)
            settings.height = UInt32(pixels.size.height)
            let isDeep = pixels.format.isDeep
            settings.format =
                switch pixels.format {
                case .gray8: ALCEDO_AVIF_GRAY8
                case .gray16: ALCEDO_AVIF_GRAY16
                case .rgba16: ALCEDO_AVIF_RGBA16
                case .rgba8, .rgbx8: ALCEDO_AVIF_RGBA8
                }
            settings.has_alpha = pixels.hasAlphaSamples ? 1 : 0
            settings.is_gray = isGray ? 1 : 0
            switch compression {
            case .lossless:
                settings.is_rgb = isGray ? 0 : 1
                settings.depth = isDeep ? 12 : 8
            case .lossy(let quality):
                // The comparison is written so that NaN becomes 0.
                let percent = quality > 0 ? min(quality, 100) : 0
                settings.quantizer = Int32(((100 - percent) * 63 / 100).rounded())
                settings.is_subsampled = percent < 90 ? 1 : 0
                settings.depth = isDeep ? 10 : 8
            }
            settings.speed = Int32(min(max(speed, 0), 10))
            settings.threads = Int32(min(max(threads, 1), 64))
            let (quarterTurns, mirror) = image.orientation.transforms
            (settings.rotation, settings.mirror) = (Int32(quarterTurns), Int32(mirror))
            if isSequence, let frames = image.frames {
                settings.is_sequence = 1
                settings.timescale = 1000
                settings.play_count = UInt32(clamping: frames.playCount.map { min(max($0, 1), Int(Int32.max)) } ?? 0)
            }
            return settings
        }

        private static func check(_ size: PixelSize) throws(ImageEncodingError) {
            guard size.isPositive, size.width <= 65_535, size.height <= 65_535 else {
                throw ImageEncodingError(
                    .unsupportedImage, "AVIF: the format stores at most 65,535 pixels a side, not \(size)")
            }
        }

        private static func pointer(_ bytes: UnsafeRawBufferPointer) -> (UnsafePointer<UInt8>?, Int) {
            bytes.isEmpty ? (nil, 0) : (bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }

    extension ImageEncoding where Self == ImageEncoder {
        /// Returns an encoder of lossy, lossless and animated AVIF that uses libavif.
        ///
        /// ```swift
        /// let data = try ImageEncoder.avif(quality: 70, speed: 8).encode(image)
        /// ```
        ///
        /// The color profile is kept unchanged, with two exceptions. A gray profile of pixels in color becomes an RGB
        /// profile with the same curve. A profile that declares PQ or HLG becomes code points (CICP). EXIF data without
        /// a TIFF header is omitted. Rows keep their stored order, and an orientation is written as the properties
        /// `irot` and `imir`. Opaque images get no alpha, and gray images, also those with alpha, no color. Images with
        /// 16 bits are stored with 10 bits, or losslessly with 12 bits. Color is stored with half the resolution below
        /// a quality of 90.
        ///
        /// Delays of frames are stored in milliseconds, rounded down, at most 16,777,215 ms. A side of more than
        /// 65,535 pixels, a frame that does not fill the canvas, and a frame with alpha after an opaque first frame are
        /// errors with the code `unsupportedImage`. A row encoder collects the whole image, because libavif needs all
        /// rows to encode. Source: AV1 Image File Format.
        ///
        /// - Parameters:
        ///   - quality: The quality from 0 (smallest) to 100 (best). Other values are clamped. Has no effect when
        ///     `lossless` is `true`. Alpha is kept exactly. Default: 60.
        ///   - lossless: Whether every sample is kept, up to 12 bits. Default: `false`.
        ///   - speed: The speed, from 0 (smallest file) to 10 (fastest), or to 6 for an animation, because the AV1
        ///     encoder fails with faster ones. Other values are clamped. Default: 6.
        ///   - threads: The maximum number of threads of the AV1 encoder. More than one divides large images into
        ///     tiles. Default: 1.
        ///   - keepsShortDelays: Whether delays of at most 10 ms in animations from GIF or APNG are written unchanged.
        ///     Otherwise they become 100 ms, as browsers show them. A delay of 0 becomes 1 ms, because the format has
        ///     no frames without duration. Default: `false`.
        public static func avif(
            quality: Double = 60, lossless: Bool = false, speed: Int = 6, threads: Int = 1,
            keepsShortDelays: Bool = false
        ) -> Self {
            ImageEncoder(
                AVIFEncoder(
                    compression: lossless ? .lossless : .lossy(quality: quality), speed: speed, threads: threads,
                    keepsShortDelays: keepsShortDelays))
        }
    }

    /// An encoder of libavif to which frames are added.
    private final class AVIFWriter {
        private let encoder: OpaquePointer
        private let format: PixelFormat
        private let hasAlpha: Bool

        init(_ settings: alcedo_avif_encoder_settings) throws(ImageEncodingError) {
            var settings = settings
            guard let encoder = alcedo_avif_encoder_create(&settings) else {
                throw ImageEncodingError(.outOfMemory, "AVIF: cannot encode: out of memory")
            }
            self.encoder = encoder
            hasAlpha = settings.has_alpha != 0
            format =
                switch settings.format {
                case ALCEDO_AVIF_GRAY8: .gray8
                case ALCEDO_AVIF_GRAY16: .gray16
                case ALCEDO_AVIF_RGBA16: .rgba16
                default: .rgba8
                }
        }

        deinit { alcedo_avif_encoder_destroy(encoder) }

        /// Adds a frame, whose size must be that of the settings. The duration is rounded down to milliseconds and
        /// clamped to 24 bits.
        func add(_ pixels: PixelBuffer, duration: Duration) throws(ImageEncodingError) {
            let rows = try pixels.frame(in: format, hasAlpha: hasAlpha, of: "AVIF")
            let status = rows.withUnsafeBytes { memory in
                memory.baseAddress.map {
                    alcedo_avif_encoder_add(encoder, $0, rows.bytesPerRow, Self.milliseconds(duration))
                }
            }
            try check(status ?? ALCEDO_AVIF_OUT_OF_MEMORY)
        }

        func finish() throws(ImageEncodingError) -> Data {
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            try check(alcedo_avif_encoder_finish(encoder, &bytes, &count))
            guard let bytes else { throw ImageEncodingError(.failed, "AVIF: libavif produced no file") }
            return Data(
                bytesNoCopy: bytes, count: count,
                deallocator: .custom { pointer, _ in alcedo_avif_free(pointer.assumingMemoryBound(to: UInt8.self)) })
        }

        private static func milliseconds(_ delay: Duration) -> UInt64 {
            let (seconds, attoseconds) = delay.components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            guard seconds <= 0xFF_FFFF / 1000 else { return 0xFF_FFFF }
            return min(UInt64(seconds) * 1000 + UInt64(attoseconds) / 1_000_000_000_000_000, 0xFF_FFFF)
        }

        private func check(_ status: alcedo_avif_status) throws(ImageEncodingError) {
            guard status != ALCEDO_AVIF_OK else { return }
            let code: ImageEncodingError.Code =
                switch status {
                case ALCEDO_AVIF_OUT_OF_MEMORY: .outOfMemory
                case ALCEDO_AVIF_UNSUPPORTED: .unsupportedImage
                default: .failed
                }
            let reason = String(cString: alcedo_avif_encoder_message(encoder))
            throw ImageEncodingError(code, "AVIF: \(reason.isEmpty ? "libavif failed" : reason)")
        }
    }
#endif
