import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// Owns one libpng decoder. The bytes it reads must outlive it.
final class PNGReader {
    private let shim: OpaquePointer
    let info: ImageInfo
    let colorProfile: Data?

    /// Reads the header.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let base = bytes.baseAddress,
            let shim = alcedo_png_create(base, bytes.count, max(1, limits.maximumMetadataByteCount))
        else { throw ImageDecodingError(.outOfMemory, "libpng could not be started") }
        var header = alcedo_png_info()
        let status = alcedo_png_read_header(shim, &header)
        guard status == ALCEDO_PNG_OK else {
            let error = Self.error(status, shim)
            alcedo_png_destroy(shim)
            throw error
        }
        self.shim = shim
        let exif = RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.exif, count: header.exif_size))
        let xmp = RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.xmp, count: header.xmp_size))
        info = ImageInfo(
            format: .png,
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: header.exif == nil ? ImageOrientation(xmp: xmp) : ImageOrientation(exif: exif),
            hasAlpha: header.has_alpha != 0,
            bitDepth: Int(header.bit_depth))
        colorProfile = header.icc.map { Data(bytes: $0, count: header.icc_size) }
    }

    deinit { alcedo_png_destroy(shim) }

    /// Reads all rows and the rest of the file. To be called once.
    func readPixels() throws(ImageDecodingError) -> PixelBuffer {
        let alphaMode: AlphaMode = info.hasAlpha ? .straight : .opaque
        let pixels = try PixelBuffer(size: info.size, format: .rgba8, alphaMode: alphaMode) {
            (memory, stride) throws(ImageDecodingError) in
            guard let out = memory.baseAddress else { return }
            let bytes = out.assumingMemoryBound(to: UInt8.self)
            let status = alcedo_png_read_rgba(shim, bytes, stride, memory.count)
            guard status == ALCEDO_PNG_OK else { throw Self.error(status, shim) }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(info.size) pixels") }
        return pixels
    }

    private static func error(_ status: alcedo_png_status, _ shim: OpaquePointer) -> ImageDecodingError {
        let message = "PNG: \(String(cString: alcedo_png_message(shim)))"
        switch status {
        case ALCEDO_PNG_TRUNCATED: return ImageDecodingError(.truncated, message)
        case ALCEDO_PNG_OUT_OF_MEMORY: return ImageDecodingError(.outOfMemory, message)
        default: return ImageDecodingError(.corrupt, message)
        }
    }
}
