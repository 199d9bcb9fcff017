public import AlcedoCore
public import FoundationEssentials

/// Decodes PNG of every colour type, bit depth and interlacing, by libpng.
///
/// The result is RGBA8: palettes, gray levels and `tRNS` are expanded, 16-bit samples lose their low byte. Stored
/// values; no gamma is applied. The orientation is that of the EXIF chunk or, without one, of XMP.
/// Source: W3C PNG specification, third edition.
public struct PNGDecoder: ImageDecoding {
    public init() {}

    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in try PNGReader(bytes, limits: limits).info }
    }

    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let reader = try PNGReader(bytes, limits: options.limits)
            try options.limits.check(reader.info.size, format: .rgba8)
            var pixels = try reader.readPixels()
            if options.alphaMode == .premultiplied { pixels = pixels.premultiplied() }
            return DecodedImage(
                pixels: options.appliesOrientation ? pixels.upright(from: reader.info.orientation) : pixels,
                colorProfile: reader.colorProfile,
                orientation: options.appliesOrientation ? .up : reader.info.orientation,
                format: .png)
        }
    }
}
