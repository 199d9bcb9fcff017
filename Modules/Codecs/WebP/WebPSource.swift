import AlcedoCore
import AlcedoRuntime
import CWebP
import FoundationEssentials

/// A copy of the pixels in a libwebp picture, from which libwebp encodes.
final class WebPSource {
    private var picture = WebPPicture()

    /// Copies the pixels, either as ARGB or as luma, chroma and alpha.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for sides that do not fit the format,
    ///   `outOfMemory`, or `failed` when libwebp fails for another reason.
    init(_ pixels: PixelBuffer, usesARGB: Bool) throws(ImageEncodingError) {
        try Self.check(pixels.size)
        guard WebPPictureInit(&picture) != 0 else {
            throw ImageEncodingError(.failed, "WebP: cannot initialize libwebp: the library version does not match")
        }
        picture.use_argb = usesARGB ? 1 : 0
        picture.width = Int32(pixels.width)
        picture.height = Int32(pixels.height)
        let rgba = try Self.straightRGBA(pixels)
        let isOpaque = pixels.alphaMode == .opaque || pixels.format == .rgbx8
        let isCopied = rgba.withUnsafeBytes { memory in
            let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let stride = Int32(rgba.bytesPerRow)
            return isOpaque
                ? WebPPictureImportRGBX(&picture, base, stride) : WebPPictureImportRGBA(&picture, base, stride)
        }
        guard isCopied != 0 else { throw ImageEncodingError(libwebp: picture.error_code) }
    }

    deinit { WebPPictureFree(&picture) }

    /// Returns a file with only this image. Ends with an error when the work of the thread is canceled.
    func encode(_ config: WebPConfig) throws(ImageEncodingError) -> Data {
        var config = config
        var output = WebPMemoryWriter()
        WebPMemoryWriterInit(&output)
        defer { WebPMemoryWriterClear(&output) }
        let isEncoded = withUnsafeMutablePointer(to: &output) { output in
            picture.writer = WebPMemoryWrite
            picture.progress_hook = { _, _ in BlockingExecutor.isWorkCanceled ? 0 : 1 }
            picture.custom_ptr = UnsafeMutableRawPointer(output)
            return WebPEncode(&config, &picture)
        }
        guard isEncoded != 0, let bytes = output.mem else { throw ImageEncodingError(libwebp: picture.error_code) }
        return Data(bytes: bytes, count: output.size)
    }

    /// Adds the image to `encoder` as the frame that begins at `milliseconds`, and its bytes to `counter`. Returns
    /// whether libwebp succeeded, which it does not beyond the limit of `counter`. libwebp may change the image.
    func add(
        to encoder: OpaquePointer, at milliseconds: Int32, _ config: WebPConfig, _ counter: WebPByteCounter
    ) -> Bool {
        var config = config
        counter.beginFrame()
        picture.progress_hook = WebPByteCounter.hook
        picture.user_data = Unmanaged.passUnretained(counter).toOpaque()
        return withExtendedLifetime(counter) {
            WebPAnimEncoderAdd(encoder, &picture, milliseconds, &config) != 0
        }
    }

    /// Throws `unsupportedImage` unless both sides are positive and fit in the 14 bits of the bitstream.
    static func check(_ size: PixelSize) throws(ImageEncodingError) {
        let maximum = Int(WEBP_MAX_DIMENSION)
        guard size.isPositive, size.width <= maximum, size.height <= maximum else {
            throw ImageEncodingError(
                .unsupportedImage, "WebP: the format stores at most \(maximum) pixels a side, not \(size)")
        }
    }

    /// Returns the pixels unchanged when they have four bytes each and are not premultiplied, or a converted copy
    /// otherwise.
    private static func straightRGBA(_ pixels: PixelBuffer) throws(ImageEncodingError) -> PixelBuffer {
        if pixels.format.bytesPerPixel == 4, pixels.alphaMode != .premultiplied { return pixels }
        guard let copy = pixels.straightRGBA(rowCount: pixels.height) else {
            throw ImageEncodingError(.outOfMemory, "WebP: cannot allocate \(pixels.size) pixels: out of memory")
        }
        return copy
    }
}

/// The number of bytes of the encoded frames of an animation, which libwebp holds until it writes the file.
///
/// libwebp has no function for it, but reports its progress with each picture that it encodes, and with the memory into
/// which it writes. It may encode a frame in several ways, one after the other, and keeps the smallest.
final class WebPByteCounter {
    private let limit: Int
    /// The bytes of the frames before the current one.
    private var earlier = 0
    /// The bytes of the current frame, by the memory into which it is written.
    private var candidates: [UnsafeMutableRawPointer: Int] = [:]
    private(set) var isOverLimit = false

    init(limit: Int) { self.limit = limit }

    /// Begins a frame. The previous one has been encoded.
    func beginFrame() {
        earlier += candidates.values.min() ?? 0
        candidates = [:]
    }

    /// The function that libwebp calls with the progress of a picture, whose user data is the counter. Returns zero to
    /// end the encode.
    static let hook: WebPProgressHook = { _, picture in
        if BlockingExecutor.isWorkCanceled { return 0 }
        guard let picture, let data = picture.pointee.user_data, let output = picture.pointee.custom_ptr
        else { return 1 }
        let counter = Unmanaged<WebPByteCounter>.fromOpaque(data).takeUnretainedValue()
        let byteCount = output.assumingMemoryBound(to: WebPMemoryWriter.self).pointee.size
        counter.candidates[output] = byteCount
        if byteCount > counter.limit - counter.earlier { counter.isOverLimit = true }
        return counter.isOverLimit ? 0 : 1
    }
}

extension ImageEncodingError {
    /// Creates the error for a status code of libwebp. `code` must not be the success code.
    init(libwebp code: WebPEncodingError) {
        switch code {
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            self.init(.outOfMemory, "WebP: cannot encode: out of memory")
        case VP8_ENC_ERROR_BAD_DIMENSION:
            self.init(.unsupportedImage, "WebP: the format cannot store an image of this size")
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
            self.init(.unsupportedImage, "WebP: the encoded image exceeds the format's size limits")
        case VP8_ENC_ERROR_USER_ABORT: self.init(.failed, "WebP: encoding was canceled")
        default: self.init(.failed, "WebP: libwebp failed with code \(code.rawValue)")
        }
    }
}
