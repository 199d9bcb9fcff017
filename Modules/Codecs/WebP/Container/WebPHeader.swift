import AlcedoCore
import CWebP

/// What a bitstream says about itself.
struct WebPHeader {
    let size: PixelSize
    let declaresAlpha: Bool
    let isLossless: Bool

    /// Reads the header of an image's chunk, or of an alpha chunk and the image's.
    ///
    /// - Parameter isWhole: Whether these are all bytes of the image.
    /// - Returns: nil when more bytes are needed and may come.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool) throws(ImageDecodingError) {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes.baseAddress, bytes.count, &features)
        if status == VP8_STATUS_NOT_ENOUGH_DATA, !isWhole { return nil }
        guard status == VP8_STATUS_OK else { throw ImageDecodingError(libwebp: status) }
        size = PixelSize(width: Int(features.width), height: Int(features.height))
        declaresAlpha = features.has_alpha != 0
        isLossless = features.format == 2
    }
}

extension ImageDecodingError {
    /// What libwebp's status means. `status` must not be the one of success.
    init(libwebp status: VP8StatusCode) {
        switch status {
        case VP8_STATUS_OUT_OF_MEMORY: self.init(.outOfMemory, "WebP: there is no memory to decode with")
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            self.init(.unsupportedVariant, "WebP: the bitstream uses an unknown feature")
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA:
            self.init(.truncated, "WebP: the bitstream ends early")
        default: self.init(.corrupt, "WebP: the bitstream is damaged")
        }
    }
}
