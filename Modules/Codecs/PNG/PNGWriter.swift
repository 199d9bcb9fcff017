import AlcedoCore
import CPNGShim
import FoundationEssentials

/// Owns one libpng encoder.
final class PNGWriter {
    private let shim: OpaquePointer

    /// Encodes all up to the pixels.
    ///
    /// - Parameters:
    ///   - settings: Without palette, profile and EXIF, which are the other parameters.
    ///   - palette: Four bytes a colour.
    init(
        _ settings: alcedo_png_settings, palette: [UInt8] = [], colorProfile: Data?, exif: [UInt8]
    ) throws(ImageEncodingError) {
        guard let shim = withUnsafePointer(to: settings, { alcedo_png_encoder_create($0) }) else {
            throw ImageEncodingError(.outOfMemory, "libpng could not be started")
        }
        self.shim = shim
        // Some versions of libpng also write a profile whose color space differs from the image's.
        let isGray = settings.color_type & 2 == 0
        let profile = colorProfile.flatMap { ICCProfile.describes(gray: isGray, $0) ? [UInt8]($0) : nil } ?? []
        let status = palette.withUnsafeBufferPointer { palette in
            profile.withUnsafeBufferPointer { icc in
                exif.withUnsafeBufferPointer { exif in
                    var all = settings
                    all.palette = palette.baseAddress
                    all.palette_count = palette.count / 4
                    all.icc = icc.baseAddress
                    all.icc_size = icc.count
                    all.exif = exif.baseAddress
                    all.exif_size = exif.count
                    return alcedo_png_encoder_begin(shim, &all)
                }
            }
        }
        try check(status)
    }

    deinit { alcedo_png_encoder_destroy(shim) }

    /// Encodes the next rows.
    func write(_ pixels: UnsafeRawBufferPointer, stride: Int, rows: Int) throws(ImageEncodingError) {
        guard let base = pixels.baseAddress, rows > 0, pixels.count / rows >= min(stride, pixels.count) else { return }
        try check(alcedo_png_encoder_write(shim, base.assumingMemoryBound(to: UInt8.self), stride, rows))
    }

    /// Encodes the next row.
    func write(_ row: [UInt8]) throws(ImageEncodingError) {
        try row.withUnsafeBufferPointer { row throws(ImageEncodingError) in
            try write(UnsafeRawBufferPointer(row), stride: row.count, rows: 1)
        }
    }

    func finish() throws(ImageEncodingError) { try check(alcedo_png_encoder_finish(shim)) }

    /// Hands over what has been encoded since the last time, if it is anything.
    func take(_ body: (RawSpan) throws -> Void) throws {
        let part = alcedo_png_encoder_take(shim)
        guard let base = part.bytes, part.count > 0 else { return }
        try body(RawSpan(_unsafeElements: UnsafeBufferPointer(start: base, count: part.count)))
    }

    /// All that was encoded, when nothing was taken before.
    func data() -> Data {
        let part = alcedo_png_encoder_take(shim)
        return part.bytes.map { Data(bytes: $0, count: part.count) } ?? Data()
    }

    private func check(_ status: alcedo_png_status) throws(ImageEncodingError) {
        guard status != ALCEDO_PNG_OK else { return }
        throw ImageEncodingError(
            status == ALCEDO_PNG_OUT_OF_MEMORY ? .outOfMemory : .failed,
            "PNG: \(String(cString: alcedo_png_encoder_message(shim)))")
    }
}

/// Turns rows into samples as PNG stores them: straight.
struct PNGRowSamples {
    private let header: PixelRowHeader
    private var straight: StraightRow

    init(_ header: PixelRowHeader) {
        self.header = header
        straight = StraightRow(header)
    }

    /// How rows of this kind are stored, other than as a palette.
    ///
    /// - Throws: `unsupportedImage` when the format has no such size.
    static func settings(
        _ header: PixelRowHeader, level: Int
    ) throws(ImageEncodingError) -> alcedo_png_settings {
        let longest = 0x7FFF_FFFF
        guard header.size.isPositive, header.size.width <= longest, header.size.height <= longest else {
            throw ImageEncodingError(.unsupportedImage, "PNG: \(header.size) pixels do not fit the format")
        }
        var settings = alcedo_png_settings()
        settings.width = UInt32(header.size.width)
        settings.height = UInt32(header.size.height)
        settings.level = Int32(min(max(level, 0), 9))
        settings.bit_depth = header.format == .rgba16 ? 16 : 8
        let isOpaque = header.alphaMode == .opaque || header.format == .rgbx8
        settings.color_type = header.format == .gray8 ? 0 : isOpaque ? 2 : 6
        settings.drops_alpha = settings.color_type == 2 ? 1 : 0
        return settings
    }

    /// The row with colour divided by alpha; nil when it can be stored as it is.
    mutating func converted(_ row: RawSpan) -> [UInt8]? {
        guard header.alphaMode == .premultiplied else { return nil }
        switch header.format {
        case .gray8, .rgbx8: return nil
        case .rgba8: return straight.convert(row)
        case .rgba16: return row.withUnsafeBytes(Self.straight16)
        }
    }

    /// Rounded to nearest; colour under alpha 0 becomes black.
    private static func straight16(_ row: UnsafeRawBufferPointer) -> [UInt8] {
        var result = [UInt8](row)
        result.withUnsafeMutableBytes { memory in
            for pixel in Swift.stride(from: 0, to: memory.count - 7, by: 8) {
                let alpha = UInt32(memory.loadUnaligned(fromByteOffset: pixel + 6, as: UInt16.self))
                for sample in Swift.stride(from: pixel, to: pixel + 6, by: 2) {
                    let color = UInt32(memory.loadUnaligned(fromByteOffset: sample, as: UInt16.self))
                    let value = alpha == 0 ? 0 : min(65_535, (color * 65_535 + alpha / 2) / alpha)
                    memory.storeBytes(of: UInt16(value), toByteOffset: sample, as: UInt16.self)
                }
            }
        }
        return result
    }
}
