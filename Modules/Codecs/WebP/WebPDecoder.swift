public import AlcedoCore
public import FoundationEssentials

/// Decodes WebP, by libwebp: lossy, lossless, with alpha; of an animation the first frame.
///
/// The result is RGBA8 of the canvas's size. What the first frame of an animation does not cover is transparent,
/// whatever the file's background colour, as browsers have it. A result without a transparent pixel is `.opaque`.
///
/// With a target size libwebp scales while it decodes, and of a lossy file the full-size picture never exists; the
/// full size must be within the limits all the same. An animation whose first frame covers a part of its canvas comes
/// in full size. An EXIF orientation is applied; an ICC profile over the limit of metadata is left out.
///
/// Source: RFC 9649.
public struct WebPDecoder: ImageDecoding {
    public init() {}

    /// Reads the header and counts the frames, without decoding a pixel.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` for a file that is not there as a whole, `exceedsLimit` also for
    ///   more frames than `limits` allows.
    /// - Complexity: O(chunks).
    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in try WebPReader(bytes, limits: limits).info }
    }

    /// Decodes the image, or the first frame. Throws as ``inspect(_:limits:)`` does.
    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let reader = try WebPReader(bytes, limits: options.limits)
            let size = options.target.map(reader.size) ?? reader.info.size
            let alphaMode: AlphaMode = options.alphaMode == .premultiplied ? .premultiplied : .straight
            let pixels = try reader.readPixels(size: size, alphaMode: alphaMode)
            return DecodedImage(
                pixels: options.appliesOrientation ? pixels.upright(from: reader.info.orientation) : pixels,
                colorProfile: reader.colorProfile(limit: options.limits.maximumMetadataByteCount),
                orientation: options.appliesOrientation ? .up : reader.info.orientation,
                format: .webp)
        }
    }
}
