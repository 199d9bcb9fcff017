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
}
