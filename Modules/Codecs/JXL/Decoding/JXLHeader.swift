#if JXL
    import AlcedoCore
    import CJXLShim
    import FoundationEssentials

    /// The properties of a file that are known before its pixels are decoded.
    struct JXLHeader {
        /// The size of the stored rows.
        let size: PixelSize
        /// The orientation of the stored rows.
        let orientation: ImageOrientation
        let hasAlpha: Bool
        let bitDepth: Int
        let isGray: Bool
        let hasBlack: Bool
        /// The number of channels, with alpha and other extra channels.
        private let channelCount: Int
        /// Whether the file is an animation, which can have one frame.
        let isAnimated: Bool
        private let storedPlayCount: Int
        /// The number of units per second in durations, as numerator and denominator.
        private let ticks: (numerator: UInt32, denominator: UInt32)
        /// The color space of HDR, or nil for other color spaces.
        private let colorDescription: ColorDescription?
        /// The ICC profile of decoded samples; nil for sRGB.
        let sampleProfile: Data?
        /// The durations of the frames that have been found, or empty for a still image.
        private(set) var delays: [Duration] = []
        private(set) var metadata = ImageMetadata()
        private var hasDamagedMetadata = false
        /// The maximum number of bytes that reading the metadata holds beside the image.
        var metadataByteCount = 0
        /// The size of the layer with the most pixels.
        private var largestLayer: PixelSize
        private var hasLayers = false

        /// Creates the properties without frames, EXIF and XMP. The pointers of `info` are valid during the call.
        init(_ info: alcedo_jxl_info) {
            size = PixelSize(width: Int(info.width), height: Int(info.height))
            orientation = ImageOrientation(rawValue: Int(info.orientation)) ?? .up
            hasAlpha = info.has_alpha != 0
            bitDepth = Int(info.depth)
            isGray = info.is_gray != 0
            hasBlack = info.has_black != 0
            channelCount = 3 + Int(info.extra_count)
            isAnimated = info.is_animated != 0
            storedPlayCount = Int(info.play_count)
            ticks = (info.ticks_numerator, info.ticks_denominator)
            largestLayer = size
            let profile = Data(info.samples_icc, info.samples_icc_size)
            // The curves of libjxl's profiles for HDR are not tone-mapped.
            colorDescription =
                info.hdr_transfer == 0
                ? nil : ColorDescription(primaries: info.hdr_primaries, transfer: info.hdr_transfer)
            // libjxl describes the inks of the file, not the samples that are made of them.
            sampleProfile = hasBlack ? nil : colorDescription?.profile(isGray: isGray) ?? profile
            metadata.colorProfile =
                Data(info.file_icc, info.file_icc_size) ?? (colorDescription == nil ? profile : nil)
        }

        /// Adds the frames, and EXIF and XMP.
        mutating func add(_ layers: JXLLayers, metadata: ImageMetadata, isDamaged: Bool) {
            hasDamagedMetadata = isDamaged
            delays = isAnimated && layers.durations.count > 1 ? layers.durations.map(duration) : []
            if layers.largest.pixelCount > size.pixelCount { largestLayer = layers.largest }
            // More layers may be among bytes that are missing.
            hasLayers = layers.count > 1 || layers.damage != nil
            (self.metadata.exif, self.metadata.xmp) = (metadata.exif, metadata.xmp)
        }

        /// Returns the duration of a number of units, rounded down to whole nanoseconds.
        private func duration(_ units: UInt32) -> Duration {
            guard ticks.numerator > 0 else { return .zero }
            // Both factors have 32 bits.
            let product = UInt64(units) * UInt64(ticks.denominator)
            let (seconds, rest) = product.quotientAndRemainder(dividingBy: UInt64(ticks.numerator))
            return .seconds(Int64(min(seconds, 1 << 32)))
                + .nanoseconds(Int64(rest * 1_000_000_000 / UInt64(ticks.numerator)))
        }

        /// The number of frames; 1 for a still image.
        var frameCount: Int { max(1, delays.count) }

        /// The number of plays as stored, 0 for repeating forever; nil for a still image.
        var loopCount: Int? { delays.isEmpty ? nil : storedPlayCount }

        var info: ImageInfo {
            let model: ColorModel =
                if hasBlack { .cmyk } else if isGray { hasAlpha ? .grayAlpha : .gray } else {
                    hasAlpha ? .rgba : .rgb
                }
            var info = ImageInfo(
                format: .jxl, size: size, orientation: orientation, hasAlpha: hasAlpha, bitDepth: bitDepth,
                colorModel: model, frameCount: frameCount, loopCount: loopCount, delays: delays, metadata: metadata)
            info.colorDescription = colorDescription
            info.hasDamagedMetadata = hasDamagedMetadata
            return info
        }

        /// Throws `exceedsLimit` when the samples of all channels of a layer, of one byte each, exceed the limit of
        /// bytes. A file can have thousands of extra channels, which libjxl decodes.
        func checkChannels(_ limits: DecodingLimits) throws(ImageDecodingError) {
            let (count, overflow) = largestLayer.pixelCount.multipliedReportingOverflow(by: channelCount)
            guard !overflow, count <= limits.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "JPEG XL: \(channelCount) channels of \(largestLayer) pixels exceed the limit of "
                        + "\(limits.maximumByteCount) bytes (DecodingLimits.maximumByteCount)")
            }
        }

        /// Returns the maximum number of pixels of a frame that is only referred to. Its samples may take as many bytes
        /// as libjxl may hold for layers of the size of the image. The layers do not matter, so that the beginning of a
        /// file has the same limit.
        func maximumHiddenPixelCount(_ limits: DecodingLimits) -> Int {
            min(limits.maximumByteCount / channelCount, byteCount(planes: 8, of: size) / (4 * channelCount))
        }

        /// Returns the format of the decoded rows for a requested format.
        func format(for requested: PixelFormat) -> PixelFormat {
            requested.available(isGray: isGray && !hasAlpha, isDeep: bitDepth > 8)
        }

        /// Returns the size of the image that is decoded with these options.
        func decodedSize(_ options: DecodingOptions) -> PixelSize {
            let reduced = BoxReduction(from: size, orientation: orientation, towards: options.averagingTarget).size(
                of: size)
            return options.appliesOrientation && orientation.swapsSides ? reduced.transposed : reduced
        }

        /// The number of bytes of the planes of the canvas.
        var planeByteCount: Int { min(size.pixelCount, 1 << 40) * channelCount * 4 }

        /// The number of bytes that libjxl holds for any image: tables, and the rows of the groups in progress.
        static let fixedByteCount = 24 << 20

        /// Returns the number of bytes of the buffers beside libjxl: the output, the averaged image, and the upright
        /// image when it is rotated. At most `Int.max / 4`.
        func bufferByteCount(_ options: DecodingOptions, isIncremental: Bool) -> Int {
            let format = format(for: options.pixelFormat)
            let output = PixelBuffer.byteCount(size: size, format: format) ?? .max
            let result = PixelBuffer.byteCount(size: decodedSize(options), format: format) ?? .max
            // 8-bit samples of a deeper file are made from 16-bit samples.
            let isNarrowed = bitDepth > 8 && !format.isDeep
            let deep = isNarrowed ? PixelBuffer.byteCount(size: size, format: .rgba16) ?? .max : 0
            // libjxl writes the black channel to a plane, whose samples take less memory than the pixels.
            let black = hasBlack ? output : 0
            let isRotated = options.appliesOrientation && orientation != .up
            let copyCount = (result < output || isRotated ? 1 : 0) + (options.alphaMode == .premultiplied ? 1 : 0)
            // A preview is a copy of the memory that libjxl writes.
            let buffers = [output, deep, black] + (isIncremental ? [output] : [])
            return buffers.reduce(copyCount * min(result, .max / 64)) { min(.max / 4, $0 + min($1, .max / 16)) }
        }

        /// Returns the maximum number of bytes that libjxl may hold beside the buffers. An ordinary image needs a small
        /// part of ``memoryLimit``, so a large one may use what the limits leave.
        func memoryLimit(beside buffers: Int, _ limits: DecodingLimits) -> Int {
            min(memoryLimit, max(Self.fixedByteCount, limits.maximumByteCount - buffers))
        }

        /// The number of bytes that libjxl may hold in the worst case, without the output.
        ///
        /// libjxl keeps samples of 32 bits of the channels of the current layer, of their coefficients, and of up to
        /// four earlier layers that later ones refer to. A still image without layers can refer to smaller ones that
        /// are not reported, such as repeated patches.
        private var memoryLimit: Int { byteCount(planes: hasLayers || isAnimated ? 8 : 3, of: largestLayer) }

        private func byteCount(planes: Int, of layer: PixelSize) -> Int {
            // The rows of libjxl are padded, and blocks have eight rows.
            let (width, height) = (layer.width / 64 * 64 + 64, layer.height / 8 * 8 + 8)
            // The product can have more than 64 bits.
            let byteCount = Double(width) * Double(height) * Double(4 * channelCount * planes)
            return byteCount < 0x1p60 ? Int(byteCount) + Self.fixedByteCount : 1 << 60
        }
    }

    /// The layers of a file, read from the headers of its frames.
    struct JXLLayers {
        /// The number of layers, shown and not shown.
        var count = 0
        /// The durations of the shown frames, in units of the file.
        var durations: [UInt32] = []
        /// The size with the most pixels.
        var largest = PixelSize(width: 0, height: 0)
        /// The error that ended reading, or nil when all layers were read.
        var damage: ImageDecodingError?

        /// Reads the layers that follow the header.
        ///
        /// - Throws: `exceedsLimit` for more layers, a larger layer or more pixels in layers than `limits` allows, and
        ///   `outOfMemory`.
        init(_ reader: JXLReader, limits: DecodingLimits) throws(ImageDecodingError) {
            let maximum = Self.maximumPixelCount(limits)
            // The number of pixels since the last shown frame.
            var pixelCount = 0
            while true {
                let frame: alcedo_jxl_frame?
                do throws(ImageDecodingError) { frame = try reader.nextFrame() } catch {
                    if error.code == .exceedsLimit || error.code == .outOfMemory { throw error }
                    damage = error
                    return
                }
                guard let frame else { return }
                count += 1
                try limits.check(frameCount: count)
                let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
                // Layers can be larger than the image.
                guard size.pixelCount <= limits.maximumPixelCount else {
                    throw ImageDecodingError(
                        .exceedsLimit,
                        "JPEG XL: a layer of \(size) pixels exceeds the limit of \(limits.maximumPixelCount) pixels "
                            + "(DecodingLimits.maximumPixelCount)")
                }
                guard size.pixelCount <= maximum - pixelCount else {
                    throw ImageDecodingError(
                        .exceedsLimit,
                        "JPEG XL: the layers of a frame exceed the limit of \(maximum) pixels, which is 16 times "
                            + "DecodingLimits.maximumPixelCount")
                }
                pixelCount += size.pixelCount
                if size.pixelCount > largest.pixelCount { largest = size }
                if frame.is_shown != 0 {
                    durations.append(frame.duration)
                    pixelCount = 0
                }
            }
        }

        /// Returns the maximum number of pixels of all layers of a shown frame: 16 times that of a frame. It limits the
        /// time of decoding, because one call decodes all of them.
        static func maximumPixelCount(_ limits: DecodingLimits) -> Int {
            let (product, overflow) = limits.maximumPixelCount.multipliedReportingOverflow(by: 16)
            return overflow ? Int.max : product
        }
    }

    extension Data {
        /// Copies bytes of C. Returns nil when there are none.
        fileprivate init?(_ start: UnsafePointer<UInt8>?, _ count: Int) {
            guard let start, count > 0 else { return nil }
            self.init(bytes: start, count: count)
        }
    }
#endif
