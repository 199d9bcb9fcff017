import AlcedoCore
import CPNGShim
import FoundationEssentials

/// Owns one libpng encoder.
final class PNGWriter {
    private let shim: OpaquePointer
    /// Bytes that libpng reads of every row.
    private let rowByteCount: Int

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
        // Opaque rows have a fourth sample, which is dropped, and indices a byte each, which are packed.
        let hasOneSample = settings.color_type == 0 || settings.color_type == 3
        rowByteCount = Int(settings.width) * (hasOneSample ? 1 : 4) * (settings.bit_depth == 16 ? 2 : 1)
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

    /// Encodes the next rows, of which the last needs no padding.
    ///
    /// - Throws: `failed` when there are fewer bytes than the rows have.
    func write(_ pixels: UnsafeRawBufferPointer, stride: Int, rows: Int) throws(ImageEncodingError) {
        guard rows > 0 else { return }
        guard let base = pixels.baseAddress, rows == 1 || stride >= rowByteCount,
            (rows - 1) * stride + rowByteCount <= pixels.count
        else {
            throw ImageEncodingError(
                .failed, "PNG: \(pixels.count) bytes are fewer than \(rows) rows of \(rowByteCount) bytes")
        }
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
