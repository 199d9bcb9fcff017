public import AlcedoCore
public import FoundationEssentials

/// Decodes GIF, by giflib: of an animation the first frame.
///
/// The result is RGBA8 of the canvas's size. The frame is clipped to the canvas; what it does not cover and what it
/// marks as transparent is transparent black, as browsers have it, whatever the file's background colour. Indices
/// beyond the palette are opaque black. A result without a transparent pixel is `.opaque`. GIF knows no partial
/// transparency, so straight and premultiplied samples are the same; ICC profiles in extensions are not read.
///
/// A target size is ignored. Source: CompuServe, "Graphics Interchange Format, Version 89a", 1990.
public struct GIFDecoder: ImageDecoding {
    public init() {}

    /// Reads the canvas's size and counts the frames, without decoding a pixel.
    ///
    /// A file that ends, or goes wrong, after its first frame has the frames before that point.
    ///
    /// - Throws: ``ImageDecodingError``; `exceedsLimit` also for more frames than `limits` allows.
    /// - Complexity: O(blocks): one step for every 255 bytes of pixel data.
    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            var input = GIFInput(bytes)
            let screen = try GIFScreen(&input)
            try limits.check(screen.size, format: .rgba8)
            let summary = try GIFSummary(&input, screen: screen, limits: limits)
            return ImageInfo(
                format: .gif, size: screen.size, hasAlpha: summary.hasAlpha, frameCount: summary.frameCount)
        }
    }

    /// Decodes the first frame. What follows it in the file is not looked at.
    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            var input = GIFInput(bytes)
            let canvas = try GIFScreen(&input).size
            try options.limits.check(canvas, format: .rgba8)
            let reader = try GIFReader(bytes)
            // The frame may be larger than the canvas it is clipped to; its rows are decoded all the same.
            try options.limits.check(reader.frame.size, format: .rgba8)
            let alphaMode: AlphaMode = options.alphaMode == .premultiplied ? .premultiplied : .straight
            return DecodedImage(pixels: try reader.readPixels(canvas: canvas, alphaMode: alphaMode), format: .gif)
        }
    }
}
