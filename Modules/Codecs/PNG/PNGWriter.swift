import AlcedoCore
import CPNGShim
import FoundationEssentials

/// A writer that owns one libpng encoder.
final class PNGWriter {
    private let shim: OpaquePointer
    /// The number of bytes that libpng reads from each row.
    private let rowByteCount: Int

    /// Creates an encoder and writes everything that precedes the pixels.
    ///
    /// - Parameters:
    ///   - settings: The settings without palette, profile and EXIF.
    ///   - palette: The palette, four bytes per color. Empty for images without a palette.
    ///   - colorProfile: The ICC profile. It is left out when its color space differs from the image's or libpng
    ///     rejects it.
    ///   - exif: The EXIF data. If it is empty, no EXIF chunk is written.
    init(
        _ settings: alcedo_png_settings, palette: [UInt8] = [], colorProfile: Data?, exif: [UInt8]
    ) throws(ImageEncodingError) {
        guard let shim = withUnsafePointer(to: settings, { alcedo_png_encoder_create($0) }) else {
            throw ImageEncodingError(.outOfMemory, "PNG: cannot create a libpng context: out of memory")
        }
        self.shim = shim
        // Opaque rows have a fourth sample, which libpng drops. Indices have one byte each, which libpng packs.
        let hasOneSample = settings.color_type == 0 || settings.color_type == 3
        rowByteCount = Int(settings.width) * (hasOneSample ? 1 : 4) * (settings.bit_depth == 16 ? 2 : 1)
        // Some versions of libpng write a profile even when its color space differs from the image's.
        let isGray = settings.color_type & 2 == 0
        let usable = ICCProfile.encoded(colorProfile, isGray: isGray)
        let profile = usable.flatMap { ICCProfile.describes(gray: isGray, $0) ? [UInt8]($0) : nil } ?? []
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

    /// Encodes the next rows. The last row in `pixels` needs no padding.
    ///
    /// - Throws: `failed` when `pixels` or `stride` is too small for the rows or libpng fails, or `outOfMemory`.
    func write(_ pixels: UnsafeRawBufferPointer, stride: Int, rows: Int) throws(ImageEncodingError) {
        guard rows > 0 else { return }
        guard let base = pixels.baseAddress, rows == 1 || stride >= rowByteCount,
            (rows - 1) * stride + rowByteCount <= pixels.count
        else {
            throw ImageEncodingError(
                .failed, "PNG: \(pixels.count) bytes of pixels are less than \(rows) rows of \(rowByteCount) bytes")
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

    /// Takes the encoded bytes that have not been taken, and calls `body` with them unless there are none. Throws the
    /// error that `body` throws.
    func take(_ body: (RawSpan) throws -> Void) throws {
        let part = alcedo_png_encoder_take(shim)
        guard let base = part.bytes, part.count > 0 else { return }
        try body(RawSpan(_unsafeElements: UnsafeBufferPointer(start: base, count: part.count)))
    }

    /// Takes the encoded bytes that have not been taken, and returns them.
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
