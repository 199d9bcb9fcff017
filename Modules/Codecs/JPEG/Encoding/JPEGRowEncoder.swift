import AlcedoCore
import CJPEGShim
import FoundationEssentials

/// Encodes rows as they come; what is encoded goes to the output at once.
final class JPEGRowEncoder: PixelRowConsumer {
    /// The longest side that libjpeg takes.
    private static let longestSide = 65_500
    /// Encoded bytes are handed on when there are about this many.
    private static let pieceByteCount = 1 << 14

    private let settings: alcedo_jpeg_settings
    private let background: OpaqueColor
    private let output: (RawSpan) throws -> Void
    private var shim: OpaquePointer?
    private var flattener: JPEGRowFlattener?

    /// - Parameter settings: How to encode; what is encoded is said by the rows' header.
    init(
        _ settings: alcedo_jpeg_settings, background: OpaqueColor, output: @escaping (RawSpan) throws -> Void
    ) {
        self.settings = settings
        self.background = background
        self.output = output
    }

    deinit { if let shim { alcedo_jpeg_encoder_destroy(shim) } }

    func begin(_ header: PixelRowHeader) throws {
        guard header.size.isPositive, max(header.size.width, header.size.height) <= Self.longestSide else {
            throw ImageEncodingError(.unsupportedImage, "JPEG: \(header.size) pixels do not fit the format")
        }
        guard let shim = alcedo_jpeg_encoder_create() else {
            throw ImageEncodingError(.outOfMemory, "libjpeg could not be started")
        }
        self.shim = shim
        flattener = JPEGRowFlattener(header, background: background)
        try begin(header, shim)
        try hand(to: shim, atLeast: 1)
    }

    private func begin(_ header: PixelRowHeader, _ shim: OpaquePointer) throws {
        let isGray = header.format == .gray8
        var profile = header.colorProfile ?? Data()
        // A profile is split over at most 255 APP2 markers of 65,519 bytes each.
        if profile.count > 255 * 65_519 || !ICCProfile.describes(gray: isGray, profile) { profile = Data() }
        let exif = header.orientation == .up ? [] : header.orientation.exif
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
    private func hand(to shim: OpaquePointer, atLeast least: Int) throws {
        guard alcedo_jpeg_encoder_pending(shim) >= least else { return }
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
