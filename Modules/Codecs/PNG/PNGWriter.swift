import AlcedoCore
import CPNGShim
import FoundationEssentials

/// A writer that owns one libpng encoder.
final class PNGWriter {
    private let shim: OpaquePointer
    /// The number of bytes that libpng reads from each row.
    private var rowByteCount: Int
    /// The number of bytes of each pixel in the rows.
    private let pixelByteCount: Int
    /// The number of times that all rows are written: seven for an interlaced image, otherwise one.
    let passCount: Int

    /// Creates an encoder and writes everything that precedes the pixels.
    ///
    /// - Parameters:
    ///   - settings: The settings without palette, profile and EXIF.
    ///   - palette: The palette, four bytes per color. Empty for images without a palette.
    ///   - colorProfile: The ICC profile. It is left out when its color space differs from the image's or libpng
    ///     rejects it. If it declares PQ or HLG, its code points are written, too, which take precedence.
    ///   - metadata: The metadata to write, whose profile is ignored.
    ///   - orientation: The orientation of the rows, which EXIF stores.
    ///   - animation: The chunks with the properties of an animation and of its first frame.
    init(
        _ settings: alcedo_png_settings, palette: [UInt8] = [], colorProfile: Data?, metadata: ImageMetadata,
        orientation: ImageOrientation, animation: [UInt8] = []
    ) throws(ImageEncodingError) {
        guard let shim = withUnsafePointer(to: settings, { alcedo_png_encoder_create($0) }) else {
            throw ImageEncodingError(.outOfMemory, "PNG: cannot create a libpng context: out of memory")
        }
        self.shim = shim
        // Opaque rows have a fourth sample, which libpng drops. Indices have one byte each, which libpng packs.
        let hasOneSample = settings.color_type == 0 || settings.color_type == 3
        let sampleCount = hasOneSample ? 1 : settings.color_type == 4 ? 2 : 4
        pixelByteCount = sampleCount * (settings.bit_depth == 16 ? 2 : 1)
        rowByteCount = Int(settings.width) * pixelByteCount
        passCount = settings.is_interlaced == 0 ? 1 : 7
        // Some versions of libpng write a profile even when its color space differs from the image's.
        let isGray = settings.color_type & 2 == 0
        let usable = ICCProfile.encoded(colorProfile, isGray: isGray)
        let profile = usable.flatMap { ICCProfile.describes(gray: isGray, $0) ? [UInt8]($0) : nil } ?? []
        let color = ColorDescription(highDynamicRangeOf: colorProfile).map(\.pngChunk) ?? []
        let size = PixelSize(width: Int(settings.width), height: Int(settings.height))
        let exif = metadata.writtenEXIF(orientation, size, holdsResolution: true)
        let chunks = metadata.pngChunks + (exif.isEmpty ? [] : PNGFrameFile.chunk("eXIf", exif)) + animation
        let status = palette.withUnsafeBufferPointer { palette in
            profile.withUnsafeBufferPointer { icc in
                color.withUnsafeBufferPointer { color in
                    chunks.withUnsafeBufferPointer { chunks in
                        var all = settings
                        all.palette = palette.baseAddress
                        all.palette_count = palette.count / 4
                        all.icc = icc.baseAddress
                        all.icc_size = icc.count
                        (all.color, all.color_size) = (color.baseAddress, color.count)
                        all.chunks = chunks.baseAddress
                        all.chunks_size = chunks.count
                        return alcedo_png_encoder_begin(shim, &all)
                    }
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

    /// Encodes an area of an image, all passes of it. The pixels have the format of the file.
    ///
    /// - Throws: As ``write(_:stride:rows:)`` does, and `failed` when the work of the thread is canceled.
    func write(_ pixels: PixelBuffer, in area: PixelRect) throws(ImageEncodingError) {
        let start = area.y * pixels.bytesPerRow + area.x * pixels.format.bytesPerPixel
        try pixels.withUnsafeBytes { memory throws(ImageEncodingError) in
            let part = UnsafeRawBufferPointer(rebasing: memory[start...])
            try writeImage(part, stride: pixels.bytesPerRow, rows: area.size.height)
        }
    }

    /// Encodes the indices of an image, all passes of it.
    ///
    /// - Throws: As ``write(_:stride:rows:)`` does, and `failed` when the work of the thread is canceled.
    func write(_ indices: [UInt8], width: Int) throws(ImageEncodingError) {
        try indices.withUnsafeBufferPointer { indices throws(ImageEncodingError) in
            try writeImage(UnsafeRawBufferPointer(indices), stride: width, rows: indices.count / width)
        }
    }

    private func writeImage(
        _ pixels: UnsafeRawBufferPointer, stride: Int, rows: Int
    ) throws(ImageEncodingError) {
        for _ in 0..<passCount {
            for y in 0..<rows {
                try ImageEncodingError.checkCancellation(.png)
                try write(UnsafeRawBufferPointer(rebasing: pixels[(y * stride)...]), stride: stride, rows: 1)
            }
        }
    }

    /// Begins the next frame of an animation, after all rows of the previous one.
    ///
    /// - Parameters:
    ///   - width: The width of the frame.
    ///   - height: The height of the frame.
    ///   - control: The chunk with the properties of the frame.
    ///   - sequence: The sequence number of the chunk with its pixels.
    /// - Throws: `failed` when a frame is too large to be compressed at once, or `outOfMemory`.
    func beginFrame(width: Int, height: Int, control: [UInt8], sequence: Int) throws(ImageEncodingError) {
        try check(
            alcedo_png_encoder_begin_frame(
                shim, UInt32(clamping: width), UInt32(clamping: height), control, control.count,
                UInt32(clamping: sequence)))
        rowByteCount = width * pixelByteCount
    }

    /// The number of encoded bytes that have not been taken, without those of rows that are compressed at the end.
    var byteCount: Int { alcedo_png_encoder_count(shim) }

    func finish() throws(ImageEncodingError) { try check(alcedo_png_encoder_finish(shim)) }

    /// Takes the encoded bytes that have not been taken, and calls `body` with them unless there are none. Throws the
    /// error that `body` throws.
    func take(_ body: (RawSpan) throws -> Void) throws {
        let part = alcedo_png_encoder_take(shim)
        guard let base = part.bytes, part.count > 0 else { return }
        try body(RawSpan(_unsafeElements: UnsafeBufferPointer(start: base, count: part.count)))
    }

    /// Returns the encoded bytes of the finished file, none of which have been taken. They are not copied, because a
    /// file can be as large as its pixels. Call this method once.
    func data() -> Data {
        let part = alcedo_png_encoder_detach(shim)
        return part.bytes.map {
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: part.count, deallocator: .free)
        } ?? Data()
    }

    private func check(_ status: alcedo_png_status) throws(ImageEncodingError) {
        guard status != ALCEDO_PNG_OK else { return }
        throw ImageEncodingError(
            status == ALCEDO_PNG_OUT_OF_MEMORY ? .outOfMemory : .failed,
            "PNG: \(String(cString: alcedo_png_encoder_message(shim)))")
    }
}

extension ColorDescription {
    /// The chunk with the code points. RGB has no matrix. Source: W3C PNG specification, third edition, section
    /// 11.3.2.6.
    fileprivate var pngChunk: [UInt8] {
        guard let codePoints else { return [] }
        return PNGFrameFile.chunk("cICP", [codePoints.primaries, codePoints.transfer, 0, isFullRange ? 1 : 0])
    }
}

extension ImageMetadata {
    /// The chunks that store the resolution, XMP, IPTC and texts. Parts beyond the maximum length of a chunk are
    /// omitted.
    fileprivate var pngChunks: [UInt8] {
        var chunks: [UInt8] = []
        if let perMeter = resolution?.rounded(per: ImageResolution.inchesPerMeter, maximum: 0x7FFF_FFFF) {
            let numbers = [perMeter.horizontal, perMeter.vertical].flatMap { value in
                (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
            }
            chunks += PNGFrameFile.chunk("pHYs", numbers + [1])
        }
        if let xmp, xmp.count < 1 << 30 {
            // The keyword, no compression, no language and no translated keyword. Source: XMP specification part 3,
            // section 1.1.5.
            chunks += PNGFrameFile.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Array(xmp))
        }
        if let iptc, iptc.count < 1 << 28 {
            let resources = PhotoshopResources.resources(of: self)
            let digits = Array("0123456789abcdef".utf8)
            var text = Array("Raw profile type iptc\0\niptc\n\(String(repeating: " ", count: 8))".utf8)
            text.removeLast(min(8, "\(resources.count)".count))
            text += Array("\(resources.count)".utf8)
            for (index, byte) in resources.enumerated() {
                if index % 36 == 0 { text.append(UInt8(ascii: "\n")) }
                text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
            chunks += PNGFrameFile.chunk("tEXt", text + Array("\n".utf8))
        }
        for (keyword, text) in texts.sorted(by: { $0.key < $1.key }) where text.utf8.count < 1 << 30 {
            let name = keyword.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
            guard name.count == keyword.unicodeScalars.count, 1...79 ~= name.count, !name.contains(0),
                !text.utf8.contains(0)
            else { continue }
            if text.allSatisfy(\.isASCII) {
                chunks += PNGFrameFile.chunk("tEXt", name + [0] + Array(text.utf8))
            } else {
                chunks += PNGFrameFile.chunk("iTXt", name + [0, 0, 0, 0, 0] + Array(text.utf8))
            }
        }
        return chunks
    }
}
