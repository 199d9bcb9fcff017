import AlcedoCore
import CWebP

extension ImageEncodingError {
    /// What libwebp's code means. `code` must not be the one of success.
    init(libwebp code: WebPEncodingError) {
        switch code {
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            self.init(.outOfMemory, "WebP: there is no memory to encode with")
        case VP8_ENC_ERROR_BAD_DIMENSION:
            self.init(.unsupportedImage, "WebP: the picture's sides do not fit the format")
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
            self.init(.unsupportedImage, "WebP: the picture has more detail than the format can hold")
        default: self.init(.failed, "WebP: libwebp failed with code \(code.rawValue)")
        }
    }
}
