public import AlcedoCore
public import FoundationEssentials

/// Encodes WebP, by libwebp: lossy or lossless, still or animated.
///
/// The colour profile is kept as it is. Rows stay as they are stored, and an orientation other than upright is written
/// as EXIF. Opaque pictures get no alpha. Gray becomes red, green and blue, samples of 16 bits lose their low byte and
/// premultiplied ones are divided by alpha, because the format knows only straight pixels of 8 bits.
///
/// Rows cannot be encoded as they come: libwebp needs the whole picture, so a row encoder collects it.
/// Source: RFC 9649.
public struct WebPEncoder: ImageEncoding {
    /// How pixels are kept.
    public enum Compression: Sendable, Hashable {
        /// Quality from 0 (smallest) to 100 (best); values outside count as the nearest. Alpha is kept exactly.
        case lossy(quality: Double)
        /// Without loss, but for ``WebPEncoder/keepsHiddenColor``.
        case lossless
    }

    /// How pixels are kept.
    public var compression: Compression
    /// How hard libwebp tries: 0 (fastest) to 6 (smallest). Values outside count as the nearest.
    public var method: Int
    /// Whether lossless compression keeps the colour under alpha 0, which nobody sees. Dropping it makes files smaller.
    public var keepsHiddenColor: Bool

    /// By default lossy with quality 75, at libwebp's usual effort.
    public init(
        compression: Compression = .lossy(quality: 75), method: Int = 4, keepsHiddenColor: Bool = false
    ) {
        self.compression = compression
        self.method = method
        self.keepsHiddenColor = keepsHiddenColor
    }

    public var format: ImageFormat { .webp }

    public func holds(_ image: DecodedImage) -> Bool { true }

    /// Encodes the image; of an animation all frames, taken from it one at a time.
    ///
    /// Delays are those of the file it came from, in whole milliseconds. libwebp stores the changes from frame to frame,
    /// and frames without a change as a longer delay of the one before; when nothing ever changes the result is still.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for sides above 16,383 pixels and for an animation of more
    ///   than 2^31 ms; `failed` also when a frame cannot be decoded.
    /// - Complexity: O(*w* × *h*) for each frame. Memory: a copy of one picture, libwebp's own, and the file; for an
    ///   animation three more canvases.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let file: Data
        if let frames = image.frames, frames.frameCount > 1 {
            file = try WebPAnimationWriter(config: configuration()).encode(frames)
        } else {
            file = try WebPSource(image.pixels, usesARGB: compression == .lossless).encode(configuration())
        }
        return try WebPMetadata(colorProfile: image.colorProfile, orientation: image.orientation).added(to: file)
    }
}
