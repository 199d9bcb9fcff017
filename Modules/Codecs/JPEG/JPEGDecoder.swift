public import AlcedoCore
public import FoundationEssentials

/// Decodes JPEG by libjpeg-turbo: baseline and progressive; gray, YCbCr, RGB, CMYK and YCCK.
///
/// The result is opaque RGBA8 with the accurate integer DCT and smooth upsampling, the library's own defaults. With a
/// target size the DCT scales by an eighth to eight eighths, and the full-size picture never exists.
///
/// A file that ends early or lost entropy-coded data is an error, although libjpeg only warns and fills in grey.
/// Source: ITU-T T.81; Adobe technical note 5116 for the inverted ink of CMYK.
public struct JPEGDecoder: ImageDecoding {
    public init() {}

    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in try JPEGReader(bytes, limits: limits).info }
    }

    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let reader = try JPEGReader(bytes, limits: options.limits)
            var size = reader.info.size
            if let target = options.target { size = try reader.shrink(towards: target) }
            try options.limits.check(size, format: .rgba8)
            // The whole picture is read however small it is decoded, and that takes its time.
            try options.limits.check(reader.info.size, format: .gray8)
            try reader.checkCoefficients(beside: size, options.limits)
            let pixels = try reader.readPixels(size: size)
            return DecodedImage(
                pixels: options.appliesOrientation ? pixels.upright(from: reader.info.orientation) : pixels,
                colorProfile: reader.colorProfile,
                orientation: options.appliesOrientation ? .up : reader.info.orientation,
                format: .jpeg)
        }
    }
}
