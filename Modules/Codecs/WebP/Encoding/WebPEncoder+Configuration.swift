import AlcedoCore
import CWebP

extension WebPEncoder {
    /// libwebp's settings for these.
    func configuration() throws(ImageEncodingError) -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigInit(&config) != 0 else {
            throw ImageEncodingError(.failed, "WebP: libwebp could not be started")
        }
        switch compression {
        case .lossless: config.lossless = 1
        case .lossy(let quality):
            // Written so that a value that is no number counts as 0.
            config.quality = quality > 0 ? Float(min(quality, 100)) : 0
        }
        config.method = Int32(min(max(method, 0), 6))
        config.exact = keepsHiddenColor ? 1 : 0
        return config
    }

    /// What libwebp's error means.
    static func error(_ code: WebPEncodingError) -> ImageEncodingError {
        switch code {
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            ImageEncodingError(.outOfMemory, "WebP: there is no memory to encode with")
        case VP8_ENC_ERROR_BAD_DIMENSION:
            ImageEncodingError(.unsupportedImage, "WebP: the picture's sides do not fit the format")
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW, VP8_ENC_ERROR_FILE_TOO_BIG:
            ImageEncodingError(.unsupportedImage, "WebP: the picture has more detail than the format can hold")
        default: ImageEncodingError(.failed, "WebP: libwebp failed with code \(code.rawValue)")
        }
    }
}
