import AlcedoCore
import AlcedoRuntime
import CPNGShim
import FoundationEssentials

/// A reader that owns one libpng decoder. The bytes that it reads must outlive it.
final class PNGReader {
    private let shim: OpaquePointer
    private let segments: UnsafeMutableBufferPointer<alcedo_png_segment>
    let header: PNGHeader
    let colorProfile: Data?
    /// The damage before the pixels that was tolerated.
    let damage: ImageDamage?
    /// The first text, decompressed, if `purpose` requested it.
    let text: Data?

    /// Creates a decoder and reads the header.
    ///
    /// - Parameters:
    ///   - parts: The consecutive parts of the file.
    ///   - chunkLimit: The maximum number of bytes in a profile or a text, decompressed. A larger one is dropped.
    ///   - purpose: Whether checksums of critical chunks are verified, and whether the first text is read.
    init(
        _ parts: [PNGBytes], chunkLimit: Int, purpose: alcedo_png_purpose = ALCEDO_PNG_FILE
    ) throws(ImageDecodingError) {
        let segments = UnsafeMutableBufferPointer<alcedo_png_segment>.allocate(capacity: max(1, parts.count))
        _ = segments.initialize(from: parts.map { alcedo_png_segment(bytes: $0.baseAddress, count: $0.count) })
        guard let base = segments.baseAddress,
            let shim = alcedo_png_create(base, parts.count, max(1, chunkLimit), purpose)
        else {
            segments.deallocate()
            throw ImageDecodingError(.outOfMemory, "PNG: cannot create a libpng context: out of memory")
        }
        var info = alcedo_png_info()
        if let error = Self.error(alcedo_png_read_header(shim, &info), shim) {
            alcedo_png_destroy(shim)
            segments.deallocate()
            throw error
        }
        self.shim = shim
        self.segments = segments
        header = PNGHeader(
            size: PixelSize(width: Int(info.width), height: Int(info.height)), bitDepth: Int(info.bit_depth),
            colorType: Int(info.color_type), hasAlpha: info.has_alpha != 0, isInterlaced: info.is_interlaced != 0)
        colorProfile = info.icc.map { Data(bytes: $0, count: info.icc_size) }
        damage = Self.damage(info.damage, shim)
        text = info.text.map { Data(bytes: $0, count: info.text_size) }
    }

    deinit {
        alcedo_png_destroy(shim)
        segments.deallocate()
    }

    /// The maximum number of bytes of filtered rows that are inflated at once: enough for 3840 × 2160 pixels of RGBA.
    /// libdeflate takes about half as long as zlib, but needs all rows in memory.
    static let maximumInflatedByteCount = 32 << 20

    /// Selects the form of the decoded rows. Call this method once, before the first row is read.
    func start(_ format: PixelFormat, premultiplies: Bool) throws(ImageDecodingError) {
        let status = alcedo_png_start(shim, format.shimFormat, premultiplies ? 1 : 0, Self.maximumInflatedByteCount)
        if let error = Self.error(status, shim) { throw error }
    }

    /// Ends reading with the error `decoderUnavailable` when the work of the thread is canceled. The frames of an
    /// animation are not interrupted, because an error would end the animation for all its users.
    func endWhenCanceled() { alcedo_png_set_cancellation(shim) { BlockingExecutor.isWorkCanceled ? 1 : 0 } }

    /// Reads the next rows of an image that is not interlaced. Returns the error, or nil.
    func readRows(_ count: Int, into memory: UnsafeMutableRawBufferPointer, stride: Int) -> ImageDecodingError? {
        guard let out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        return Self.error(alcedo_png_read_rows(shim, out, stride, count, memory.count), shim)
    }

    /// Reads the pixels and the rest of the file. Returns the error, or nil.
    func readAll(into memory: UnsafeMutableRawBufferPointer, stride: Int) -> ImageDecodingError? {
        readPixels(into: memory, stride: stride) ?? finish()
    }

    /// Reads the pixels. Returns the error, or nil.
    func readPixels(into memory: UnsafeMutableRawBufferPointer, stride: Int) -> ImageDecodingError? {
        guard header.isInterlaced else { return readRows(header.size.height, into: memory, stride: stride) }
        guard let out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        return Self.error(alcedo_png_read_interlaced(shim, out, stride, memory.count), shim)
    }

    /// Reads the chunks after the pixels. Returns the error, or nil. Any damage is an error.
    func finish() -> ImageDecodingError? { Self.error(alcedo_png_finish(shim), shim) }

    static func damage(_ damage: alcedo_png_damage, _ shim: OpaquePointer) -> ImageDamage? {
        guard damage != ALCEDO_PNG_INTACT else { return nil }
        let message = "PNG: \(String(cString: alcedo_png_damage_message(shim)))"
        return ImageDamage(
            damage == ALCEDO_PNG_HARMLESS ? .harmless : .wrongPixels, ImageDecodingError(.corrupt, message))
    }

    static func error(_ status: alcedo_png_status, _ shim: OpaquePointer) -> ImageDecodingError? {
        guard status != ALCEDO_PNG_OK else { return nil }
        let message = "PNG: \(String(cString: alcedo_png_message(shim)))"
        switch status {
        case ALCEDO_PNG_TRUNCATED: return ImageDecodingError(.truncated, message)
        case ALCEDO_PNG_OUT_OF_MEMORY: return ImageDecodingError(.outOfMemory, message)
        case ALCEDO_PNG_CANCELED: return ImageDecodingError.canceled("PNG")
        default: return ImageDecodingError(.corrupt, message)
        }
    }
}

extension PixelFormat {
    /// The corresponding pixel format of the shim.
    var shimFormat: alcedo_png_format {
        switch self {
        case .gray8: ALCEDO_PNG_GRAY8
        case .gray16: ALCEDO_PNG_GRAY16
        case .rgba16: ALCEDO_PNG_RGBA16
        case .rgba8, .rgbx8: ALCEDO_PNG_RGBA8
        }
    }
}
