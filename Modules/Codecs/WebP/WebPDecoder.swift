public import AlcedoCore
public import FoundationEssentials

/// Decodes WebP, by libwebp: lossy, lossless, with alpha, animated.
///
/// The result is RGBA8 of the canvas's size; gray8 and 16 bits are not in the format. What the frames of an animation do
/// not cover is transparent, whatever the file's background colour, as browsers have it; frames are drawn as libwebp's
/// own player draws them, to the bit. A still image without a transparent pixel is `.opaque`.
///
/// With a target size libwebp scales a still image while it decodes, and of a lossy file the full-size picture never
/// exists; the full size must be within the limits all the same. Animations are averaged down when they are drawn. An
/// EXIF orientation is applied.
///
/// Rows come from the whole picture: libwebp writes into a buffer of the output's size. Source: RFC 9649.
public struct WebPDecoder: ImageDecoding {
    /// Whether a second thread may help with a large lossy picture; the pixels are the same.
    public var usesThreads: Bool

    public init(usesThreads: Bool = true) { self.usesThreads = usesThreads }

    private var settings: WebPBitstream.Settings { WebPBitstream.Settings(usesThreads: usesThreads) }

    /// Reads all chunks, without decoding a pixel.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` for a file that is not there as a whole, `exceedsLimit` also for
    ///   more frames than `limits` allows.
    /// - Complexity: O(chunks).
    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try WebPImage(data, options: DecodingOptions(limits: limits), settings).container.info
    }

    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        do throws(ImageDecodingError) {
            return try WebPImage(data, options: options, settings).decode()
        } catch {
            guard options.allowsPartial else { throw error }
            return try WebPDecodingState.part(of: data, options: options, settings, damage: error)
        }
    }

    public func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(WebPDecodingState(options: options, settings))
    }

    /// The output, a second one where it is turned, what libwebp keeps of a lossless image (its pixels once more), and
    /// for an animation two canvases and the pixels of a frame.
    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let image = try WebPImage(data, options: options, settings)
        let container = image.container
        let canvas = PixelBuffer.byteCount(size: container.canvas, format: .rgba8) ?? 0
        if container.frames.count > 1, options.includesAnimation { return 4 * canvas }
        let output = PixelBuffer.byteCount(size: image.size, format: .rgba8) ?? 0
        let isTurned = options.appliesOrientation && container.orientation != .up
        return output * (isTurned ? 2 : 1) + (container.frames[0].isLossless ? canvas : 0)
    }
}
