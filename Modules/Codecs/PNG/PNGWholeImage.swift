import AlcedoCore
import FoundationEssentials

/// Decodes files all of whose bytes are there.
enum PNGWholeImage {
    static func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try PNGFile(bytes, limits: limits).inspected()
        }
    }

    static func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let file = try PNGFile(bytes, limits: options.limits)
            guard let control = file.outline.animation else { return try PNGStill.decode(file, options) }
            return try PNGAnimation(file, data, control, options).decode()
        }
    }
}
