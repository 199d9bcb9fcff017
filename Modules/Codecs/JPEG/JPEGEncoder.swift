public import AlcedoCore
import CJPEGShim
public import FoundationEssentials

/// Encodes images as JPEG, by libjpeg-turbo.
///
/// gray8 is written as gray, everything else as YCbCr of 8 bits; 16-bit samples lose their low byte. JPEG has no alpha:
/// transparent pixels are laid over a background color. The colour profile is kept when it is made for such colours. The
/// pixels stay as they lie; their orientation is written as EXIF, in the data of `embedding(exif:)` when there is any: at most
/// 65,527 bytes of it, and longer data is left out.
public struct JPEGEncoder: EXIFEncoding {
    /// 1 (smallest) to 100 (best), on the scale of the Independent JPEG Group. Values outside count as the nearest.
    package var quality: Int
    /// How many chrominance samples are kept. Default: one for four pixels.
    package var subsampling: JPEGSubsampling
    /// Whether the image comes in several scans, each finer than the one before. Rows are then kept as coefficients until
    /// the end, two bytes a sample.
    package var isProgressive: Bool
    /// Whether Huffman tables are made for this image: some percent smaller, and kept as coefficients until the end.
    /// A progressive image always has its own.
    package var optimizesHuffman: Bool
    /// What shows through transparent pixels.
    package var background: OpaqueColor
    /// The EXIF data to write, from the TIFF header on. A JPEG holds at most 65,527 bytes of it; longer data is left out.
    package var exif: Data?

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - quality: From 1 (smallest) to 100 (best), on the scale of the Independent JPEG Group; values outside count as the
    ///     nearest. Default: 85.
    ///   - subsampling: How many chrominance samples are kept. Default: one for four pixels.
    ///   - isProgressive: Whether the image is stored in several scans, each finer than the one before. Rows are then kept as
    ///     coefficients until the end, two bytes a sample. Default: false.
    ///   - optimizesHuffman: Whether Huffman tables are made for this image, which is then some percent smaller and is kept as
    ///     coefficients until the end. A progressive image always has its own tables. Default: false.
    ///   - background: The color under transparent pixels. Default: white.
    public init(
        quality: Int = 85, subsampling: JPEGSubsampling = .both, isProgressive: Bool = false,
        optimizesHuffman: Bool = false, background: OpaqueColor = .white
    ) {
        self.quality = quality
        self.subsampling = subsampling
        self.isProgressive = isProgressive
        self.optimizesHuffman = optimizesHuffman
        self.background = background
    }

    public var format: ImageFormat { .jpeg }

    /// Stills that are marked as opaque, or have no alpha samples.
    public func holds(_ image: DecodedImage) -> Bool {
        !image.isAnimated && (image.pixels.alphaMode == .opaque || [.rgbx8, .gray8].contains(image.pixels.format))
    }

    /// Encodes the image; of an animation the first frame.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for a side of more than 65,500 pixels.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        var data = Data()
        do {
            let encoder = makeRowEncoder { bytes in bytes.withUnsafeBytes { data.append(contentsOf: $0) } }
            try image.sendRows(to: encoder)
        } catch {
            throw error as? ImageEncodingError ?? ImageEncodingError(.failed, "JPEG: \(error)")
        }
        return data
    }

    /// Memory is O(*w*), unless the image is progressive or its Huffman tables are optimised.
    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        JPEGRowEncoder(settings, background: background, exif: exif, output: output)
    }

    private var settings: alcedo_jpeg_settings {
        var settings = alcedo_jpeg_settings()
        settings.quality = Int32(min(max(quality, 1), 100))
        (settings.horizontal_subsampling, settings.vertical_subsampling) = subsampling.factors
        settings.is_progressive = isProgressive ? 1 : 0
        settings.optimizes = optimizesHuffman ? 1 : 0
        return settings
    }
}

extension ImageEncoding where Self == JPEGEncoder {
    /// JPEG.
    ///
    /// - Parameters:
    ///   - quality: 1 (smallest) to 100 (best). Default: 85.
    ///   - isProgressive: Whether the image comes in several scans. Default: false.
    public static func jpeg(quality: Int = 85, isProgressive: Bool = false) -> Self {
        JPEGEncoder(quality: quality, isProgressive: isProgressive)
    }
}

/// How many chrominance samples a JPEG keeps. Source: ITU-T T.81, section A.1.1.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
    /// 4:4:4, one for every pixel.
    case none
    /// 4:2:2, one for two pixels side by side.
    case horizontal
    /// 4:4:0, one for two pixels above one another.
    case vertical
    /// 4:2:0, one for four pixels.
    case both

    /// Luminance samples for each of chrominance.
    var factors: (horizontal: Int32, vertical: Int32) {
        switch self {
        case .none: (1, 1)
        case .horizontal: (2, 1)
        case .vertical: (1, 2)
        case .both: (2, 2)
        }
    }
}

/// Encodes rows as they come; what is encoded goes to the output at once.
private final class JPEGRowEncoder: PixelRowConsumer {
    /// The longest side that libjpeg takes.
    private static let maximumSide = 65_500
    /// Encoded bytes are handed on when there are about this many.
    private static let pieceByteCount = 1 << 14
    /// A marker of 65,533 bytes begins with six that name EXIF. Source: CIPA DC-008 (Exif 2.32) section 4.7.2.
    private static let exifLimit = 65_527

    private let settings: alcedo_jpeg_settings
    private let background: OpaqueColor
    private let exif: Data?
    private let output: (RawSpan) throws -> Void
    private var shim: OpaquePointer?
    private var flattener: JPEGRowFlattener?
    private var bytesPerRow = 0

    /// - Parameter settings: How to encode; what is encoded is said by the rows' header.
    init(
        _ settings: alcedo_jpeg_settings, background: OpaqueColor, exif: Data?,
        output: @escaping (RawSpan) throws -> Void
    ) {
        self.settings = settings
        self.background = background
        self.exif = exif.flatMap { $0.count <= Self.exifLimit ? $0 : nil }
        self.output = output
    }

    deinit { if let shim { alcedo_jpeg_encoder_destroy(shim) } }

    func begin(_ header: PixelRowHeader) throws {
        guard header.size.isPositive, max(header.size.width, header.size.height) <= Self.maximumSide else {
            throw ImageEncodingError(.unsupportedImage, "JPEG: \(header.size) pixels do not fit the format")
        }
        guard let shim = alcedo_jpeg_encoder_create() else {
            throw ImageEncodingError(.outOfMemory, "libjpeg could not be started")
        }
        self.shim = shim
        flattener = JPEGRowFlattener(header, background: background)
        bytesPerRow = header.bytesPerRow
        try begin(header, shim)
        try hand(to: shim, atLeast: 1)
    }

    private func begin(_ header: PixelRowHeader, _ shim: OpaquePointer) throws {
        let isGray = header.format == .gray8
        var profile = header.colorProfile ?? Data()
        // A profile is split over at most 255 APP2 markers of 65,519 bytes each.
        if profile.count > 255 * 65_519 || !ICCProfile.describes(gray: isGray, profile) { profile = Data() }
        let exif = header.orientation.written(in: exif)
        try profile.withUnsafeBytes { profile in
            try exif.withUnsafeBufferPointer { exif in
                var settings = settings
                settings.width = UInt32(header.size.width)
                settings.height = UInt32(header.size.height)
                settings.is_gray = isGray ? 1 : 0
                settings.icc = profile.baseAddress?.assumingMemoryBound(to: UInt8.self)
                settings.icc_size = profile.count
                settings.exif = exif.baseAddress
                settings.exif_size = exif.count
                try check(alcedo_jpeg_encoder_begin(shim, &settings), shim)
            }
        }
    }

    func consume(_ row: RawSpan) throws {
        guard let shim else { return }
        // libjpeg reads as many bytes as the header says.
        guard row.byteCount >= bytesPerRow else {
            throw ImageEncodingError(.failed, "JPEG: a row has \(row.byteCount) of \(bytesPerRow) bytes")
        }
        let status = row.withUnsafeBytes { row -> alcedo_jpeg_status in
            guard let flat = flattener?.flattened(row) else { return write(row, shim) }
            return flat.withUnsafeBytes { write($0, shim) }
        }
        try check(status, shim)
        try hand(to: shim, atLeast: Self.pieceByteCount)
    }

    private func write(_ row: UnsafeRawBufferPointer, _ shim: OpaquePointer) -> alcedo_jpeg_status {
        guard let base = row.baseAddress else { return ALCEDO_JPEG_OK }
        return alcedo_jpeg_encoder_write(shim, base.assumingMemoryBound(to: UInt8.self), row.count, 1)
    }

    func finish() throws {
        guard let shim else { return }
        try check(alcedo_jpeg_encoder_finish(shim), shim)
        try hand(to: shim, atLeast: 1)
    }

    /// Hands on what has been encoded, when it is at least so many bytes.
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

/// Makes rows that JPEG can hold: four bytes a pixel, of which the last does not count, without transparency.
private struct JPEGRowFlattener {
    private var straight: StraightRowConverter
    private let background: SIMD4<UInt32>

    /// nil when the rows are fit as they are.
    init?(_ header: PixelRowHeader, background: OpaqueColor) {
        switch header.format {
        case .gray8, .rgbx8: return nil
        case .rgba8 where header.alphaMode == .opaque: return nil
        case .rgba8, .rgba16: break
        }
        straight = StraightRowConverter(header)
        self.background = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255)
    }

    /// The row over the background, rounded to nearest.
    mutating func flattened(_ row: UnsafeRawBufferPointer) -> [UInt8] {
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
