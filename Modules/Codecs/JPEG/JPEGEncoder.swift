public import AlcedoCore
import AlcedoRuntime
import CJPEGShim
package import FoundationEssentials

/// The encoder of `ImageEncoder.jpeg(quality:subsampling:isProgressive:optimizesHuffman:embedsThumbnail:background:)`,
/// whose comment describes the behavior.
package struct JPEGEncoder: MetadataEncoding {
    /// The quality from 1 (smallest) to 100 (best), on the scale of the Independent JPEG Group. Other values are
    /// clamped.
    package var quality: Int
    /// The chrominance subsampling. Default: by the quality.
    package var subsampling: JPEGSubsampling
    /// Whether the image is stored in several scans, which add detail step by step. Rows are then kept as coefficients
    /// until the end, at two bytes per sample.
    package var isProgressive: Bool
    /// Whether the Huffman tables are made for this image. The file becomes a few percent smaller, and rows are kept as
    /// coefficients until the end. A progressive image always has its own tables.
    package var optimizesHuffman: Bool
    /// Whether the EXIF data contains a thumbnail of the image. Rows are then collected until the end.
    package var embedsThumbnail: Bool
    /// The color under pixels that are not opaque. Its alpha is ignored.
    package var background: PixelColor
    /// The metadata to write. Without EXIF, only an orientation other than upright is written as EXIF. The same applies
    /// if more than 65,527 bytes, the limit of a JPEG, would be written. XMP of more than 65,504 bytes and IPTC of more
    /// than 65,506 bytes are omitted.
    package var metadata = ImageMetadata()

    package init(
        quality: Int = 85, subsampling: JPEGSubsampling = .auto, isProgressive: Bool = false,
        optimizesHuffman: Bool = false, embedsThumbnail: Bool = false, background: PixelColor = .white
    ) {
        self.quality = quality
        self.subsampling = subsampling
        self.isProgressive = isProgressive
        self.optimizesHuffman = optimizesHuffman
        self.embedsThumbnail = embedsThumbnail
        self.background = background
    }

    package var format: ImageFormat { .jpeg }

    /// False, because samples of the format have 8 bits.
    package var holdsDeepSamples: Bool { false }

    /// Returns whether the image is a still image that is marked as opaque or has no alpha samples.
    package func canEncode(_ image: DecodedImage) -> Bool {
        !image.isAnimated && (image.pixels.alphaMode == .opaque || !image.pixels.format.hasAlpha)
    }

    /// Encodes the image. Only the first frame of an animation is encoded.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for a side of more than 65,500 pixels,
    ///   `outOfMemory`, or `failed` for any other error.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        var data = Data()
        do {
            let encoder = JPEGRowEncoder(
                settings, background: background, metadata: metadata, thumbnail: try thumbnail(of: image)
            ) { bytes in
                bytes.withUnsafeBytes { data.append(contentsOf: $0) }
            }
            try encoder.begin(image.rowHeader)
            try encoder.consume(image.pixels)
            try encoder.finish()
        } catch {
            throw error as? ImageEncodingError ?? ImageEncodingError(.failed, "JPEG: \(error)")
        }
        return data
    }

    /// Returns the memory of libjpeg and the file, measured for noise.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        size.encodingByteCount(perPixel: isProgressive || optimizesHuffman ? 16 : 8)
    }

    /// Returns an encoder that takes rows as they arrive. Memory is O(*w*), unless the image is progressive, its
    /// Huffman tables are optimized, or it has a thumbnail, which precedes the rows.
    package func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        embedsThumbnail
            ? makeBufferingRowEncoder(output: output)
            : JPEGRowEncoder(settings, background: background, metadata: metadata, thumbnail: nil, output: output)
    }

    package func limitingQuality(to quality: Double) -> Self? {
        var encoder = self
        // The comparison is written so that NaN becomes 0.
        encoder.quality = min(self.quality, quality > 0 ? Int((min(quality, 1) * 100).rounded()) : 0)
        return encoder
    }

    /// Returns a thumbnail of an image for its EXIF data, without metadata of its own. Nil if none is requested, and
    /// for an image that is no larger than a thumbnail.
    private func thumbnail(of image: DecodedImage) throws -> Data? {
        let longest = max(image.size.width, image.size.height)
        guard embedsThumbnail, longest > Self.maximumThumbnailSide else { return nil }
        // The average of whole pixels needs no filter, and the size of a thumbnail is not fixed.
        let factor = (longest - 1) / Self.maximumThumbnailSide + 1
        let pixels = try image.pixels.reduced(by: BoxReduction(factor: factor))
        let encoder = JPEGEncoder(quality: min(quality, 75), optimizesHuffman: true, background: background)
        return try encoder.encode(DecodedImage(pixels: pixels))
    }

    /// The maximum width and height of a thumbnail, which programs for EXIF expect. Source: CIPA DC-009 (DCF 2.0),
    /// section 3.2.2, in which thumbnails have 160 x 120 pixels.
    private static let maximumThumbnailSide = 160

    private var settings: alcedo_jpeg_settings {
        var settings = alcedo_jpeg_settings()
        let quality = min(max(quality, 1), 100)
        settings.quality = Int32(quality)
        (settings.horizontal_subsampling, settings.vertical_subsampling) = subsampling.factors(quality: quality)
        settings.is_progressive = isProgressive ? 1 : 0
        settings.optimizes = optimizesHuffman ? 1 : 0
        return settings
    }
}

extension ImageEncoding where Self == ImageEncoder {
    /// Returns an encoder of JPEG that uses libjpeg-turbo.
    ///
    /// ```swift
    /// let data = try ImageEncoder.jpeg(quality: 90).encode(image)
    /// ```
    ///
    /// Images in gray8 and gray16 are written as gray, all others as 8-bit YCbCr. 16-bit samples lose their low byte.
    /// JPEG has no alpha: transparent pixels are blended with a background color. Only the first frame of an animation
    /// is encoded. The page of the module has the rules for profiles, orientation and metadata.
    ///
    /// A side of more than 65,500 pixels is an error with the code `unsupportedImage`. A row encoder needs O(*w*)
    /// memory, unless the image is progressive, its Huffman tables are optimized, or it has a thumbnail.
    ///
    /// - Parameters:
    ///   - quality: The quality from 1 (smallest) to 100 (best), on the scale of the Independent JPEG Group. Other
    ///     values are clamped. Default: 85.
    ///   - subsampling: The chrominance subsampling. Default: `.auto`, which keeps every chrominance sample from a
    ///     quality of 90, and one sample for four pixels below.
    ///   - isProgressive: Whether the image is stored in several scans, which add detail step by step. Rows are then
    ///     kept as coefficients until the end, at two bytes per sample. Default: `false`.
    ///   - optimizesHuffman: Whether the Huffman tables are made for this image. The file becomes a few percent
    ///     smaller, and rows are kept as coefficients until the end. A progressive image always has its own tables.
    ///     Default: `false`.
    ///   - embedsThumbnail: Whether the EXIF data contains a thumbnail of at most 160 pixels per side, which file
    ///     managers and previews show. The thumbnail is omitted if the image is not larger, and if it and the other
    ///     EXIF data together have more than 65,527 bytes. The whole image is held in memory. Default: `false`.
    ///   - background: The color under pixels that are not opaque. Default: white.
    public static func jpeg(
        quality: Int = 85, subsampling: JPEGSubsampling = .auto, isProgressive: Bool = false,
        optimizesHuffman: Bool = false, embedsThumbnail: Bool = false, background: PixelColor = .white
    ) -> Self {
        ImageEncoder(
            JPEGEncoder(
                quality: quality, subsampling: subsampling, isProgressive: isProgressive,
                optimizesHuffman: optimizesHuffman, embedsThumbnail: embedsThumbnail, background: background))
    }
}

/// The chrominance subsampling of a JPEG. Source: ITU-T T.81, section A.1.1.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
    /// 4:4:4 from a quality of 90, otherwise 4:2:0.
    ///
    /// At a high quality, the loss from subsampling would exceed that from quantization: thin lines of saturated
    /// colors, for example red text, become visibly blurred.
    case auto
    /// 4:4:4, one chrominance sample for every pixel.
    case none
    /// 4:2:2, one chrominance sample for two horizontally adjacent pixels.
    case horizontal
    /// 4:4:0, one chrominance sample for two vertically adjacent pixels.
    case vertical
    /// 4:2:0, one chrominance sample for four pixels.
    case both

    /// Returns the number of luminance samples for each chrominance sample, per axis, for a quality from 1 to 100.
    func factors(quality: Int) -> (horizontal: Int32, vertical: Int32) {
        switch self {
        case .auto: quality >= 90 ? (1, 1) : (2, 2)
        case .none: (1, 1)
        case .horizontal: (2, 1)
        case .vertical: (1, 2)
        case .both: (2, 2)
        }
    }
}

/// An encoder that takes rows as they arrive. It outputs the leading markers with the metadata, then encoded bytes
/// whenever enough of them are pending, and the remaining bytes at the end.
private final class JPEGRowEncoder: PixelRowConsumer {
    /// The maximum length of a side in libjpeg.
    private static let maximumSide = 65_500
    /// The minimum number of encoded bytes that ``consume(_:)`` passes to the output at a time.
    private static let pieceByteCount = 1 << 14
    /// The maximum numbers of bytes of an XMP packet and of image resources. A marker segment holds 65,533 bytes, of
    /// which 29 or 14 identify the kind. Source: XMP specification part 3, section 1.1.3.
    private static let (xmpLimit, resourceLimit) = (65_504, 65_519)

    private let settings: alcedo_jpeg_settings
    private let background: PixelColor
    private let metadata: ImageMetadata
    /// The JPEG to write in the EXIF data, or nil for none.
    private let thumbnail: Data?
    private let output: (RawSpan) throws -> Void
    private var shim: OpaquePointer?
    private var flattener: JPEGRowFlattener?
    private var bytesPerRow = 0

    /// Creates an encoder. The header of the rows completes the settings later.
    init(
        _ settings: alcedo_jpeg_settings, background: PixelColor, metadata: ImageMetadata, thumbnail: Data?,
        output: @escaping (RawSpan) throws -> Void
    ) {
        self.settings = settings
        self.background = background
        self.metadata = metadata
        self.thumbnail = thumbnail
        self.output = output
    }

    deinit { if let shim { alcedo_jpeg_encoder_destroy(shim) } }

    /// Returns the bytes of a few rows, or of the coefficients of the image if they are kept until the end.
    func byteCount(for header: PixelRowHeader) -> Int {
        settings.is_progressive != 0 || settings.optimizes != 0
            ? header.size.encodingByteCount(perPixel: 16)
            : PixelSize(width: header.size.width, height: min(header.size.height, 64)).encodingByteCount(perPixel: 8)
    }

    func begin(_ header: PixelRowHeader) throws {
        guard header.size.isPositive, max(header.size.width, header.size.height) <= Self.maximumSide else {
            throw ImageEncodingError(.unsupportedImage, "JPEG: the format cannot store \(header.size) pixels")
        }
        guard let shim = alcedo_jpeg_encoder_create() else {
            throw ImageEncodingError(.outOfMemory, "JPEG: cannot create a libjpeg context: out of memory")
        }
        self.shim = shim
        flattener = JPEGRowFlattener(header, background: background)
        bytesPerRow = header.bytesPerRow
        try begin(header, shim)
        try hand(to: shim, atLeast: 1)
    }

    private func begin(_ header: PixelRowHeader, _ shim: OpaquePointer) throws {
        let isGray = header.format.isGray
        var profile = ICCProfile.encoded(header.colorProfile, isGray: isGray) ?? Data()
        // A profile is split over at most 255 APP2 markers with up to 65,519 bytes each.
        if profile.count > 255 * 65_519 || !ICCProfile.describes(gray: isGray, profile) { profile = Data() }
        var exif = metadata.writtenEXIF(header.orientation, header.size, holdsResolution: true)
        if exif.count > ImageMetadata.maximumEXIFByteCount { exif = header.orientation.written(in: nil) }
        if let thumbnail, let extended = ImageMetadata.exif(exif, adding: thumbnail) { exif = extended }
        var xmp = [UInt8](metadata.xmp ?? Data())
        // Of a packet that is too long, the statements of rights stay.
        if xmp.count > Self.xmpLimit { xmp = [UInt8](metadata.selected(.copyright).xmp ?? Data()) }
        if xmp.count > Self.xmpLimit { xmp = [] }
        var resources = PhotoshopResources.resources(of: metadata)
        if resources.count > Self.resourceLimit {
            resources = PhotoshopResources.resources(of: ImageMetadata(iptc: metadata.iptc))
        }
        if resources.count > Self.resourceLimit { resources = [] }
        let resolution = metadata.resolution?.rounded(per: 1, maximum: 0xFFFF)
        // libjpeg copies the segments, which follow each other in this order.
        let segments = exif + xmp + resources
        try profile.withUnsafeBytes { profile in
            try segments.withUnsafeBufferPointer { segments in
                var settings = settings
                settings.width = UInt32(header.size.width)
                settings.height = UInt32(header.size.height)
                settings.is_gray = isGray ? 1 : 0
                settings.icc = profile.baseAddress?.assumingMemoryBound(to: UInt8.self)
                settings.icc_size = profile.count
                settings.exif = segments.baseAddress
                settings.exif_size = exif.count
                settings.xmp = segments.baseAddress.map { $0 + exif.count }
                settings.xmp_size = xmp.count
                settings.resources = segments.baseAddress.map { $0 + exif.count + xmp.count }
                settings.resources_size = resources.count
                settings.horizontal_density = UInt32(resolution?.horizontal ?? 0)
                settings.vertical_density = UInt32(resolution?.vertical ?? 0)
                settings.is_canceled = { BlockingExecutor.isWorkCanceled ? 1 : 0 }
                try check(alcedo_jpeg_encoder_begin(shim, &settings), shim)
            }
        }
    }

    func consume(_ row: RawSpan) throws {
        guard let shim else { return }
        // libjpeg reads the number of bytes that the header implies.
        guard row.byteCount >= bytesPerRow else {
            throw ImageEncodingError(.failed, "JPEG: a row has \(row.byteCount) bytes instead of \(bytesPerRow)")
        }
        let status = row.withUnsafeBytes { row -> alcedo_jpeg_status in
            guard let flat = flattener?.flattened(row) else { return write(row, stride: row.count, count: 1, shim) }
            return flat.withUnsafeBytes { write($0, stride: $0.count, count: 1, shim) }
        }
        try check(status, shim)
        try hand(to: shim, atLeast: Self.pieceByteCount)
    }

    /// Encodes all rows of an image. libjpeg gets several rows at a time when they need no conversion.
    func consume(_ pixels: PixelBuffer) throws {
        guard let shim else { return }
        guard flattener == nil else {
            for y in 0..<pixels.height { try consume(pixels.row(y)) }
            return
        }
        let status = pixels.withUnsafeBytes { write($0, stride: pixels.bytesPerRow, count: pixels.height, shim) }
        try check(status, shim)
    }

    private func write(
        _ rows: UnsafeRawBufferPointer, stride: Int, count: Int, _ shim: OpaquePointer
    ) -> alcedo_jpeg_status {
        guard let base = rows.baseAddress else { return ALCEDO_JPEG_OK }
        return alcedo_jpeg_encoder_write(shim, base.assumingMemoryBound(to: UInt8.self), stride, count)
    }

    func finish() throws {
        guard let shim else { return }
        try check(alcedo_jpeg_encoder_finish(shim), shim)
        try hand(to: shim, atLeast: 1)
    }

    /// Passes the encoded bytes to the output when there are at least `minimum`.
    private func hand(to shim: OpaquePointer, atLeast minimum: Int) throws {
        guard alcedo_jpeg_encoder_pending(shim) >= minimum else { return }
        var count = 0
        guard let bytes = alcedo_jpeg_encoder_take(shim, &count) else { return }
        try output(RawSpan(_unsafeElements: UnsafeBufferPointer(start: bytes, count: count)))
    }

    private func check(_ status: alcedo_jpeg_status, _ shim: OpaquePointer) throws(ImageEncodingError) {
        guard status != ALCEDO_JPEG_OK else { return }
        throw ImageEncodingError(
            status == ALCEDO_JPEG_OUT_OF_MEMORY ? .outOfMemory : .failed,
            "JPEG: \(String(cString: alcedo_jpeg_encoder_message(shim)))")
    }
}

/// A converter of rows to a form that JPEG can store: one byte per pixel of gray, and otherwise four bytes, of which
/// the last is ignored, without transparency.
private struct JPEGRowFlattener {
    private let isGray: Bool
    private var straight: StraightRowConverter
    private let background: SIMD4<UInt32>

    /// The position of the high byte of a 16-bit sample in native byte order.
    private static let highByte = UInt16(1).littleEndian == 1 ? 1 : 0

    /// Creates a converter, or returns `nil` when the rows need no conversion.
    init?(_ header: PixelRowHeader, background: PixelColor) {
        switch header.format {
        case .gray8, .rgbx8: return nil
        case .rgba8 where header.alphaMode == .opaque: return nil
        case .rgba8, .rgba16, .gray16: break
        }
        isGray = header.format.isGray
        straight = StraightRowConverter(header)
        self.background = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255)
    }

    /// Returns the row blended with the background, rounded to nearest.
    mutating func flattened(_ row: UnsafeRawBufferPointer) -> [UInt8] {
        // 16-bit gray loses its low byte.
        if isGray { return stride(from: 0, to: row.count - 1, by: 2).map { row[$0 + Self.highByte] } }
        var pixels = straight.convert(RawSpan(_unsafeBytes: row))
        pixels.withUnsafeMutableBytes { pixels in
            for offset in stride(from: 0, to: pixels.count, by: 4) {
                let pixel = SIMD4<UInt32>(
                    truncatingIfNeeded: pixels.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self))
                guard pixel.w != 255 else { continue }
                let sum = pixel &* pixel.w &+ background &* (255 &- pixel.w) &+ 127
                pixels.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: sum / SIMD4(repeating: 255)), toByteOffset: offset,
                    as: SIMD4<UInt8>.self)
            }
        }
        return pixels
    }
}
