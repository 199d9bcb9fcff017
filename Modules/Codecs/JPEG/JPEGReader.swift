import AlcedoCore
private import CJPEGShim
import FoundationEssentials

/// Owns one libjpeg decoder. The bytes it reads must outlive it.
final class JPEGReader {
    private let shim: OpaquePointer
    let info: ImageInfo
    let colorProfile: Data?
    private let coefficientByteCount: UInt64

    /// Reads the header.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let base = bytes.baseAddress, let shim = alcedo_jpeg_create(base, bytes.count) else {
            throw ImageDecodingError(.outOfMemory, "libjpeg could not be started")
        }
        var header = alcedo_jpeg_info()
        let status = alcedo_jpeg_read_header(shim, &header)
        guard status == ALCEDO_JPEG_OK else {
            let error = Self.error(status, shim)
            alcedo_jpeg_destroy(shim)
            throw error
        }
        self.shim = shim
        coefficientByteCount = header.coefficient_bytes
        let exif = RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.exif, count: header.exif_size))
        info = ImageInfo(
            format: .jpeg,
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: ImageOrientation(exif: exif),
            bitDepth: Int(header.bit_depth))
        colorProfile = header.icc.flatMap {
            header.icc_size <= limits.maximumMetadataByteCount ? Data(bytes: $0, count: header.icc_size) : nil
        }
    }

    deinit { alcedo_jpeg_destroy(shim) }

    /// Chooses the smallest scale of the DCT that is not below what `target` needs, and returns the size it gives.
    func shrink(towards target: TargetSize) throws(ImageDecodingError) -> PixelSize {
        let box = info.orientation.swapsSides ? target.size.transposed : target.size
        let needed = info.size.scaled(to: box, mode: target.mode)
        var size = info.size
        for eighths in UInt32(1)...8 {
            var width: UInt32 = 0
            var height: UInt32 = 0
            let status = alcedo_jpeg_set_scale(shim, eighths, &width, &height)
            guard status == ALCEDO_JPEG_OK else { throw Self.error(status, shim) }
            size = PixelSize(width: Int(width), height: Int(height))
            if size.width >= needed.width, size.height >= needed.height { break }
        }
        return size
    }

    /// Throws `exceedsLimit` when the coefficients that libjpeg keeps of an image in several scans, whatever the output's
    /// size, and the output together exceed the limit of bytes.
    func checkCoefficients(beside size: PixelSize, _ limits: DecodingLimits) throws(ImageDecodingError) {
        let output = PixelBuffer.byteCount(size: size, format: .rgba8) ?? Int.max
        guard coefficientByteCount <= UInt64(max(0, limits.maximumByteCount - output)) || coefficientByteCount == 0
        else {
            throw ImageDecodingError(
                .exceedsLimit,
                "JPEG: \(info.size) pixels in several scans need \(coefficientByteCount) bytes beside the picture's")
        }
    }

    /// Reads all rows and the rest of the image. To be called once.
    func readPixels(size: PixelSize) throws(ImageDecodingError) -> PixelBuffer {
        let pixels = try PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) {
            (memory, stride) throws(ImageDecodingError) in
            guard let out = memory.baseAddress else { return }
            let bytes = out.assumingMemoryBound(to: UInt8.self)
            let status = alcedo_jpeg_read_rgba(shim, bytes, stride, memory.count)
            guard status == ALCEDO_JPEG_OK else { throw Self.error(status, shim) }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels") }
        return pixels
    }

    private static func error(_ status: alcedo_jpeg_status, _ shim: OpaquePointer) -> ImageDecodingError {
        let message = "JPEG: \(String(cString: alcedo_jpeg_message(shim)))"
        switch status {
        case ALCEDO_JPEG_TRUNCATED: return ImageDecodingError(.truncated, message)
        case ALCEDO_JPEG_UNSUPPORTED: return ImageDecodingError(.unsupportedVariant, message)
        case ALCEDO_JPEG_LIMIT: return ImageDecodingError(.exceedsLimit, message)
        case ALCEDO_JPEG_OUT_OF_MEMORY: return ImageDecodingError(.outOfMemory, message)
        default: return ImageDecodingError(.corrupt, message)
        }
    }
}
