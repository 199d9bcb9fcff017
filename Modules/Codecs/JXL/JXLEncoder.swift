#if JXL
    public import AlcedoCore
    import CJXLShim
    package import FoundationEssentials

    /// The encoder of `ImageEncoder.jxl(quality:lossless:effort:threads:keepsShortDelays:)`, whose comment describes
    /// the behavior.
    package struct JXLEncoder: MetadataEncoding {
        /// The compression of the pixels.
        package enum Compression: Sendable, Hashable {
            /// Lossy compression with a distance from 0.01 (best) to 25 (smallest). Other values are clamped. Alpha is
            /// kept exactly with libjxl 0.9 and later, and nearly before.
            case distance(Double)
            /// Lossless compression.
            case lossless

            /// Creates the compression for a quality from 0 to 100, which is lossless.
            package init(quality: Double) {
                // The comparison is written so that NaN becomes 0.
                self = quality >= 100 ? .lossless : .distance(Self.distance(quality: quality > 0 ? quality : 0))
            }

            /// Returns the distance that libjxl's tools use for a quality. 90 gives a distance of 1, at which no
            /// difference is visible.
            private static func distance(quality: Double) -> Double {
                quality >= 30
                    ? 0.1 + (100 - quality) * 0.09 : 53.0 / 3000 * quality * quality - 23.0 / 20 * quality + 25
            }
        }

        /// The compression of the pixels.
        package var compression: Compression
        /// The effort, from 1 (fastest) to 9 (smallest file). Other values are clamped.
        package var effort: Int
        /// The maximum number of threads. Values below 1 count as 1.
        package var threads: Int
        /// The metadata to write. The format has no place for IPTC, and stores the resolution in EXIF.
        package var metadata = ImageMetadata()

        /// Whether durations of at most 10 ms in frames from GIF or PNG are written unchanged.
        package var keepsShortDelays: Bool

        package init(
            compression: Compression = .distance(1), effort: Int = 7, threads: Int = 1, keepsShortDelays: Bool = false
        ) {
            self.keepsShortDelays = keepsShortDelays
            self.compression = compression
            self.effort = effort
            self.threads = threads
        }

        package var format: ImageFormat { .jxl }

        package func limitingQuality(to quality: Double) -> Self? {
            guard case .distance(let own) = compression else { return nil }
            guard case .distance(let limit) = Compression(quality: quality * 100) else { return self }
            var encoder = self
            encoder.compression = .distance(max(own, limit))
            return encoder
        }

        /// Returns true, because the format supports animations and transparency.
        package func canEncode(_ image: DecodedImage) -> Bool { true }

        /// Returns the memory of libjxl and the file, measured for noise.
        package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
            size.encodingByteCount(perPixel: 100)
        }

        /// Encodes the image with all frames of an animation, which are requested one at a time.
        ///
        /// - Throws: ``/AlcedoCore/ImageEncodingError``: `failed` when libjxl fails or a frame cannot be decoded, and
        ///   `outOfMemory`. A side above 1,073,741,823 pixels is `unsupportedImage`, and so is a frame that does not
        ///   fill the canvas, or that has alpha after an opaque first frame.
        /// - Complexity: O(*w* × *h*) for each frame. Memory: the planes, which are many times larger with a higher
        ///   effort, and the file.
        package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
            try encode(image, maximumByteCount: .max)
        }

        /// Encodes the image as ``encode(_:)`` does. Throws `exceedsLimit` in the frame whose bytes exceed the limit.
        package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
            try Self.check(image.size)
            let isGray = image.pixels.format.isGray || image.isGrayWithAlpha
            // Lossy compression would take the curves of the profile, which are those of SDR.
            let range = ColorDescription(highDynamicRangeOf: image.colorProfile).flatMap { $0.jxlCodePoints }
            let usable = range == nil ? ICCProfile.encoded(image.colorProfile, isGray: isGray) : nil
            let profile = usable.flatMap { ICCProfile.describes(gray: isGray, $0) ? $0 : nil } ?? Data()
            // Without EXIF data, the orientation is written only in the codestream.
            let exif = metadata.writtenEXIF(
                metadata.exif == nil ? .up : image.orientation, image.size, holdsResolution: false)
            let xmp = metadata.xmp.map { [UInt8]($0) } ?? []
            var frames = try FrameSequence(image, format: "JPEG XL")
            // Absent data is empty instead of nil, so both addresses are valid during the call.
            return try profile.bytes.withUnsafeBytes { profile throws(ImageEncodingError) in
                try exif.withUnsafeBufferPointer { exif throws(ImageEncodingError) in
                    try xmp.withUnsafeBufferPointer { xmp throws(ImageEncodingError) in
                        var settings = settings(image, isGray: isGray, isAnimated: frames.isAnimated)
                        (settings.icc, settings.icc_size) = Self.pointer(profile)
                        if let range {
                            (settings.hdr_primaries, settings.hdr_transfer) = (range.primaries, range.transfer)
                        }
                        (settings.exif, settings.exif_size) = Self.pointer(UnsafeRawBufferPointer(exif))
                        (settings.xmp, settings.xmp_size) = Self.pointer(UnsafeRawBufferPointer(xmp))
                        return try encode(image, &frames, settings, maximumByteCount: maximumByteCount)
                    }
                }
            }
        }

        private func encode(
            _ image: DecodedImage, _ frames: inout FrameSequence, _ settings: alcedo_jxl_encoder_settings,
            maximumByteCount: Int
        ) throws(ImageEncodingError) -> Data {
            let writer = try JXLWriter(threads: settings.threads, maximumByteCount: maximumByteCount)
            try writer.begin(settings)
            guard frames.isAnimated else {
                try writer.add(image.pixels, duration: .zero, isLast: true)
                return try writer.data()
            }
            while let (index, pixels, isLast) = try frames.next() {
                guard pixels.size == image.size else {
                    throw ImageEncodingError(
                        .unsupportedImage, "JPEG XL: frame \(index) does not have the size of the canvas")
                }
                try writer.add(
                    pixels, duration: image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays),
                    isLast: isLast)
            }
            return try writer.data()
        }

        /// Returns the settings of libjxl, without metadata.
        private func settings(_ image: DecodedImage, isGray: Bool, isAnimated: Bool) -> alcedo_jxl_encoder_settings {
            let pixels = image.pixels
            var settings = alcedo_jxl_encoder_settings()
            settings.width = UInt32(pixels.size.width)
            settings.height = UInt32(pixels.size.height)
            settings.format = pixels.format.jxl
            settings.has_alpha = pixels.hasAlphaSamples ? 1 : 0
            settings.is_gray = isGray ? 1 : 0
            switch compression {
            case .lossless: settings.is_lossless = 1
            // The comparison is written so that NaN becomes the best quality.
            case .distance(let distance): settings.distance = Float(distance > 0.01 ? min(distance, 25) : 0.01)
            }
            settings.effort = Int32(min(max(effort, 1), 9))
            settings.threads = Int32(min(max(threads, 1), 64))
            settings.orientation = Int32(image.orientation.rawValue)
            if isAnimated, let frames = image.frames {
                settings.is_animated = 1
                settings.play_count = UInt32(clamping: frames.playCount.map { max($0, 1) } ?? 0)
            }
            return settings
        }

        private static func check(_ size: PixelSize) throws(ImageEncodingError) {
            guard size.isPositive, size.width < 1 << 30, size.height < 1 << 30 else {
                throw ImageEncodingError(
                    .unsupportedImage, "JPEG XL: the format stores less than 1,073,741,824 pixels a side, not \(size)")
            }
        }

        private static func pointer(_ bytes: UnsafeRawBufferPointer) -> (UnsafePointer<UInt8>?, Int) {
            bytes.isEmpty ? (nil, 0) : (bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }

    extension ColorDescription {
        /// The code points, if the format has them: the full range, with the primaries of sRGB, BT.2020 or Display P3.
        fileprivate var jxlCodePoints: CodePoints? {
            codePoints.flatMap { isFullRange && [1, 9, 12].contains($0.primaries) ? $0 : nil }
        }
    }

    extension ImageEncoding where Self == ImageEncoder {
        /// Returns an encoder of lossy, lossless and animated JPEG XL that uses libjxl.
        ///
        /// ```swift
        /// let data = try ImageEncoder.jxl(quality: 80, effort: 5).encode(image)
        /// ```
        ///
        /// A lossless file has the unchanged color profile, if its color space is that of the pixels. A gray profile of
        /// pixels in color becomes an RGB profile with the same curve. One that declares PQ or HLG becomes a color
        /// space of the format. A lossy file stores colors independently of the profile, and decoders give them in an
        /// equal space, such as Display P3, or in sRGB for a profile that libjxl does not recognize. A profile that
        /// libjxl cannot read is omitted. Rows keep their stored order, and an orientation is written in the
        /// codestream. Opaque images get no alpha, and gray images, also those with alpha, no color. Images with 16
        /// bits are stored with 16 bits.
        ///
        /// Delays of frames are stored in milliseconds, rounded down, at least 1 ms. A frame that does not fill the
        /// canvas, and a frame with alpha after an opaque first frame are errors with the code `unsupportedImage`. A
        /// row encoder collects the whole image, because libjxl needs all rows to encode. Source: ISO/IEC 18181-1.
        ///
        /// - Parameters:
        ///   - quality: The quality from 0 (smallest) to 100 (lossless), on the scale of libjxl's tools. Other values
        ///     are clamped. Has no effect when `lossless` is `true`. Alpha is kept exactly with libjxl 0.9 and later,
        ///     and nearly before. Default: 90, at which no difference is visible.
        ///   - lossless: Whether every sample is kept. Default: `false`.
        ///   - effort: The effort, from 1 (fastest) to 9 (smallest file). Other values are clamped. Default: 7.
        ///   - threads: The maximum number of threads. Default: 1.
        ///   - keepsShortDelays: Whether delays of at most 10 ms in animations from GIF or APNG are written unchanged.
        ///     Otherwise they become 100 ms, as browsers show them. A delay of 0 becomes 1 ms, because the format has
        ///     no frames without duration. Default: `false`.
        public static func jxl(
            quality: Double = 90, lossless: Bool = false, effort: Int = 7, threads: Int = 1,
            keepsShortDelays: Bool = false
        ) -> Self {
            ImageEncoder(
                JXLEncoder(
                    compression: lossless ? .lossless : .init(quality: quality), effort: effort, threads: threads,
                    keepsShortDelays: keepsShortDelays))
        }

        /// Returns an encoder of lossy JPEG XL with the distance as the measure of its quality. See
        /// `jxl(quality:lossless:effort:threads:keepsShortDelays:)`.
        ///
        /// - Parameters:
        ///   - distance: The maximum difference from the image, in units of just noticeable differences
        ///     (Butteraugli), from 0.01 to 25. Other values are clamped.
        ///   - effort: The effort, from 1 (fastest) to 9 (smallest file). Other values are clamped. Default: 7.
        ///   - threads: The maximum number of threads. Default: 1.
        public static func jxl(distance: Double, effort: Int = 7, threads: Int = 1) -> Self {
            ImageEncoder(JXLEncoder(compression: .distance(distance), effort: effort, threads: threads))
        }
    }

    /// An encoder of libjxl to which frames are added.
    final class JXLWriter {
        private let encoder: OpaquePointer
        private var format = PixelFormat.rgba8
        private var hasAlpha = false
        private let maximumByteCount: Int

        /// - Parameter maximumByteCount: The maximum number of bytes of the file. Default: no limit.
        init(threads: Int32, maximumByteCount: Int = .max) throws(ImageEncodingError) {
            guard let encoder = alcedo_jxl_encoder_create(threads, max(0, maximumByteCount)) else {
                throw ImageEncodingError(.outOfMemory, "JPEG XL: cannot encode: out of memory")
            }
            self.maximumByteCount = maximumByteCount
            self.encoder = encoder
        }

        deinit { alcedo_jxl_encoder_destroy(encoder) }

        /// Sets the properties of the image.
        func begin(_ settings: alcedo_jxl_encoder_settings) throws(ImageEncodingError) {
            var settings = settings
            hasAlpha = settings.has_alpha != 0
            format =
                switch settings.format {
                case ALCEDO_JXL_GRAY8: .gray8
                case ALCEDO_JXL_GRAY16: .gray16
                case ALCEDO_JXL_RGBA16: .rgba16
                default: .rgba8
                }
            try check(alcedo_jxl_encoder_begin(encoder, &settings))
        }

        /// Adds a frame, whose size must be that of the settings. The duration is rounded down to milliseconds. At
        /// least one is written, because a frame without duration would be a layer of the next one.
        func add(_ pixels: PixelBuffer, duration: Duration, isLast: Bool) throws(ImageEncodingError) {
            let rows = try pixels.frame(in: format, hasAlpha: hasAlpha, of: "JPEG XL")
            let status = rows.withUnsafeBytes { memory in
                memory.baseAddress.map {
                    alcedo_jxl_encoder_add(encoder, $0, memory.count, Self.milliseconds(duration), isLast ? 1 : 0)
                }
            }
            try check(status ?? ALCEDO_JXL_OUT_OF_MEMORY)
        }

        /// Adds a JPEG file.
        func add(jpeg: UnsafeBufferPointer<UInt8>, effort: Int32) throws(ImageEncodingError) {
            guard let base = jpeg.baseAddress else { throw ImageEncodingError(.failed, "JPEG XL: the data is empty") }
            try check(alcedo_jxl_encoder_add_jpeg(encoder, base, jpeg.count, effort))
        }

        /// Returns the file, after the last frame has been added.
        func data() throws(ImageEncodingError) -> Data {
            var count = 0
            guard let bytes = alcedo_jxl_encoder_take(encoder, &count) else {
                throw ImageEncodingError(.failed, "JPEG XL: libjxl produced no file")
            }
            return Data(
                bytesNoCopy: bytes, count: count,
                deallocator: .custom { pointer, _ in alcedo_jxl_free(pointer.assumingMemoryBound(to: UInt8.self)) })
        }

        private static func milliseconds(_ delay: Duration) -> UInt32 {
            let (seconds, attoseconds) = delay.components
            guard seconds >= 0, attoseconds >= 0 else { return 1 }
            guard seconds < Int64(UInt32.max) / 1000 else { return .max }
            return max(1, UInt32(seconds) * 1000 + UInt32(attoseconds / 1_000_000_000_000_000))
        }

        private func check(_ status: alcedo_jxl_status) throws(ImageEncodingError) {
            switch status {
            case ALCEDO_JXL_OK: return
            case ALCEDO_JXL_OUT_OF_MEMORY:
                throw ImageEncodingError(.outOfMemory, "JPEG XL: cannot encode: out of memory")
            case ALCEDO_JXL_UNSUPPORTED:
                throw ImageEncodingError(.unsupportedImage, "JPEG XL: libjxl cannot store the image")
            case ALCEDO_JXL_EXCEEDS_LIMIT: throw .exceeds(maximumByteCount, .jxl)
            default: throw ImageEncodingError(.failed, "JPEG XL: cannot encode: libjxl failed")
            }
        }
    }
#endif
