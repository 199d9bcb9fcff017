/// The frames of an animated image, decoded on demand, so that an animation needs the memory of a few frames only.
///
/// Calls may come from any thread. The indices of frames are `0..<frameCount`. Implementations must bound the memory
/// that they keep, and document the bound as a number of canvases.
public protocol ImageFrameSource: Sendable {
    /// The size of the canvas. Every frame has this size.
    var canvasSize: PixelSize { get }
    /// The number of frames; at least one. When a frame after the first turns out to be damaged, the animation ends
    /// before it: the number becomes smaller, and later calls for that frame and those after it throw at once.
    var frameCount: Int { get }
    /// The number of times that the animation plays; nil means forever.
    var playCount: Int? { get }
    /// The number of bytes that the source keeps in memory, including the encoded file.
    var cost: Int { get }
    /// The worst damage that was found in the frames requested so far, in addition to ``DecodedImage/damage``; nil when
    /// none was found.
    ///
    /// Its kind is `.harmless` when a damaged frame ended the animation, and `.wrongPixels` when a frame was decoded
    /// from data that was damaged in part. It is never `.missingPixels`. Default: nil.
    var damage: ImageDamage? { get }
    /// Returns the duration for which frame `index` is shown, always more than 10 ms. Stored durations of at most 10 ms
    /// become 100 ms, as in browsers.
    func delay(at index: Int) -> Duration
    /// Returns the duration of frame `index` as stored in the file.
    func rawDelay(at index: Int) -> Duration
    /// Returns the whole canvas with frame `index` drawn. Blocks while it decodes.
    ///
    /// Advancing to the next frame decodes one frame. A jump can also decode frames before the requested one, at most
    /// those since the last frame that does not depend on earlier frames.
    ///
    /// - Throws: The error of the decoder; ``ImageDecodingError`` for decoders of this package. If frames are
    ///   processed on demand, also the error of the processor: ``ImageProcessingError``. A frame can be damaged even if
    ///   the frames before it are not. After an error, the animation has ended if ``frameCount`` is at most `index`.
    func frame(at index: Int) throws -> PixelBuffer
}

extension ImageFrameSource {
    /// The default value, nil, for a source without damage.
    public var damage: ImageDamage? { nil }
}

/// A frame source that derives its frames from another source. By default, it has the same canvas, number of frames,
/// durations, play count, cost and damage.
package protocol DerivedFrameSource: ImageFrameSource {
    /// The source of the original frames.
    var source: any ImageFrameSource { get }
}

extension DerivedFrameSource {
    package var canvasSize: PixelSize { source.canvasSize }
    package var frameCount: Int { source.frameCount }
    package var playCount: Int? { source.playCount }
    package var cost: Int { source.cost }
    package var damage: ImageDamage? { source.damage }

    package func delay(at index: Int) -> Duration { source.delay(at: index) }

    package func rawDelay(at index: Int) -> Duration { source.rawDelay(at: index) }
}
