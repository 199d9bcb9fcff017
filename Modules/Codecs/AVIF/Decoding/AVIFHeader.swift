#if AVIF
    import AlcedoCore
    import CAVIFShim
    import FoundationEssentials

    /// The properties of a file that are known before its pixels are decoded.
    struct AVIFHeader {
        /// The size of the coded image.
        let codedSize: PixelSize
        /// The part of the coded image that is shown.
        let crop: PixelRect
        /// The orientation of the rows after cropping.
        let orientation: ImageOrientation
        let hasAlpha: Bool
        /// Whether color is stored multiplied by alpha.
        let isPremultiplied: Bool
        let bitDepth: Int
        let isMonochrome: Bool
        private let isRGB: Bool
        /// The durations of the frames, or empty for a still image.
        let delays: [Duration]
        /// The number of plays; 0 means forever, and nil means that the file does not state it.
        let playCount: Int?
        /// The number of layers that improve the image one after another; 1 for no layers.
        let layerCount: Int
        /// The number of coded items, such as tiles.
        let itemCount: Int
        /// The coded items that are decoded.
        let tiles: AVIFTiles
        let metadata: ImageMetadata
        /// The color space of the code points, when the file has no ICC profile; nil when they are reserved.
        private let colorDescription: ColorDescription?
        /// The ICC profile of decoded samples; nil for sRGB.
        let sampleProfile: Data?

        /// Reads the properties. `limits` applies to metadata, and larger metadata is dropped.
        init(_ reader: AVIFReader, _ container: AVIFContainer, limits: DecodingLimits) throws(ImageDecodingError) {
            let info = try reader.readInfo()
            codedSize = PixelSize(width: Int(info.width), height: Int(info.height))
            crop = AVIFCrop(info)?.area(in: codedSize) ?? PixelRect(size: codedSize)
            orientation = ImageOrientation(quarterTurns: Int(info.rotation), mirror: Int(info.mirror))
            hasAlpha = info.has_alpha != 0
            isPremultiplied = info.is_premultiplied != 0
            bitDepth = Int(info.depth)
            isMonochrome = info.is_monochrome != 0
            isRGB = info.is_rgb != 0
            let count = Int(info.frame_count)
            try limits.check(frameCount: count)
            if count > 1 {
                let track = container.imageTrack
                delays =
                    track?.durations(count: count, timescale: info.timescale)
                    ?? Array(repeating: .zero, count: count)
                playCount = track?.playCount
            } else {
                delays = []
                playCount = nil
            }
            layerCount = Int(info.layer_count)
            itemCount = container.itemCount
            tiles = container.tiles
            metadata = ImageMetadata(info, limits)
            // An ICC profile takes precedence. The planes have been converted to RGB of the full range. Source: ISO/IEC
            // 23008-12, section 6.5.5.
            let description = ColorDescription(
                primaries: UInt8(truncatingIfNeeded: info.primaries),
                transfer: UInt8(truncatingIfNeeded: info.transfer))
            let profile = ICCProfile.ofSamples(metadata.colorProfile, isGray: isMonochrome)
            colorDescription = profile == nil ? description : nil
            sampleProfile = profile ?? colorDescription?.profile(isGray: isMonochrome)
        }

        /// The number of frames; 1 for a still image.
        var frameCount: Int { max(1, delays.count) }

        var info: ImageInfo {
            let model: ColorModel =
                if isMonochrome { hasAlpha ? .grayAlpha : .gray } else if isRGB { hasAlpha ? .rgba : .rgb } else {
                    .yCbCr
                }
            var info = ImageInfo(
                format: .avif, size: crop.size, orientation: orientation, hasAlpha: hasAlpha, bitDepth: bitDepth,
                colorModel: model, frameCount: frameCount, loopCount: playCount, delays: delays, metadata: metadata)
            info.colorDescription = colorDescription
            return info
        }

        /// Returns the format of the decoded rows for a requested format.
        func format(for requested: PixelFormat) -> PixelFormat {
            requested.available(isGray: isMonochrome && !hasAlpha, isDeep: bitDepth > 8)
        }
    }

    /// The crop of a file: the property `clap`. Source: ISO/IEC 14496-12, section 12.1.4.
    private struct AVIFCrop {
        private typealias Fraction = (numerator: Int, denominator: Int)
        private let width: Fraction
        private let height: Fraction
        private let horizontalOffset: Fraction
        private let verticalOffset: Fraction

        init?(_ info: alcedo_avif_info) {
            guard info.has_clap != 0 else { return nil }
            let clap = info.clap
            width = (Int(clap.0), Int(clap.1))
            height = (Int(clap.2), Int(clap.3))
            // The numerators of offsets are signed.
            horizontalOffset = (Int(Int32(bitPattern: clap.4)), Int(clap.5))
            verticalOffset = (Int(Int32(bitPattern: clap.6)), Int(clap.7))
        }

        /// Returns the visible area, or nil when it is not in whole pixels or exceeds the image. Such a crop is
        /// ignored.
        func area(in size: PixelSize) -> PixelRect? {
            guard let (x, width) = Self.span(width, horizontalOffset, in: size.width),
                let (y, height) = Self.span(height, verticalOffset, in: size.height)
            else { return nil }
            return PixelRect(x: x, y: y, width: width, height: height)
        }

        /// The offset is that of the center of the visible area from the center of the image.
        private static func span(_ length: Fraction, _ offset: Fraction, in whole: Int) -> (start: Int, length: Int)? {
            guard length.denominator > 0, offset.denominator > 0, length.numerator % length.denominator == 0 else {
                return nil
            }
            let visible = length.numerator / length.denominator
            guard visible > 0, visible <= whole else { return nil }
            // Numerators and denominators have 32 bits and sides have 17, so the products do not overflow.
            let doubled = 2 * offset.numerator + offset.denominator * (whole - visible)
            let (start, rest) = doubled.quotientAndRemainder(dividingBy: 2 * offset.denominator)
            guard rest == 0, start >= 0, start <= whole - visible else { return nil }
            return (start, visible)
        }
    }

    extension PixelRect {
        fileprivate init(size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }
    }

    extension ImageOrientation {
        /// Creates the orientation of a file whose image is rotated counterclockwise and then mirrored.
        ///
        /// - Parameter mirror: -1 for none, 0 to exchange top and bottom, 1 to exchange left and right.
        init(quarterTurns: Int, mirror: Int) {
            self =
                switch (quarterTurns & 3, mirror) {
                case (0, 0), (2, 1): .downMirrored
                case (0, 1), (2, 0): .upMirrored
                case (1, 0), (3, 1): .leftMirrored
                case (1, 1), (3, 0): .rightMirrored
                case (1, _): .left
                case (2, _): .down
                case (3, _): .right
                default: .up
                }
        }

        /// The number of counterclockwise quarter turns and the mirroring that a file stores.
        var transforms: (quarterTurns: Int, mirror: Int) {
            switch self {
            case .up: (0, -1)
            case .upMirrored: (0, 1)
            case .down: (2, -1)
            case .downMirrored: (0, 0)
            case .leftMirrored: (1, 0)
            case .right: (3, -1)
            case .rightMirrored: (1, 1)
            case .left: (1, -1)
            }
        }
    }

    extension ImageMetadata {
        /// Copies the metadata within the limits.
        fileprivate init(_ info: alcedo_avif_info, _ limits: DecodingLimits) {
            self.init()
            var rest = limits.maximumMetadataByteCount
            func kept(_ start: UnsafePointer<UInt8>?, _ count: Int) -> UnsafeBufferPointer<UInt8>? {
                guard let start, count > 0, count <= rest, count <= limits.maximumChunkByteCount else { return nil }
                rest -= count
                return UnsafeBufferPointer(start: start, count: count)
            }
            colorProfile = kept(info.icc, info.icc_size).map { Data($0) }
            // The item may begin with the prefix of JPEG. Source: ISO/IEC 23008-12, annex A.2.1.
            exif = kept(info.exif, info.exif_size).map(ImageMetadata.tiff)
            xmp = kept(info.xmp, info.xmp_size).map { Data($0) }
        }
    }
#endif
