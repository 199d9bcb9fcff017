/// The frames of an animated image, made on demand, so that a thousand frames cost the memory of a few.
///
/// Calls may come from any thread. Implementations bound what they keep and say how many canvases that is.
public protocol ImageFrameSource: Sendable {
    /// Size of the canvas that every frame fills.
    var canvasSize: PixelSize { get }
    /// Number of frames; at least one.
    var frameCount: Int { get }
    /// How often the animation plays; nil for ever.
    var playCount: Int? { get }
    /// Bytes that the source keeps in memory, the encoded file included.
    var cost: Int { get }
    /// How long frame `index` stays on screen: more than 10 ms; files that say no more mean 100 ms, as browsers have it.
    func delay(at index: Int) -> Duration
    /// How long the file says that frame `index` stays on screen.
    func rawDelay(at index: Int) -> Duration
    /// The whole canvas as it looks while frame `index` is shown. Blocks while it decodes: going forward costs one
    /// frame, a jump costs those since the last one that does not build on others.
    ///
    /// - Throws: What the decoder does, ``ImageDecodingError`` by those of this package: a frame may be damaged though
    ///   those before it are not.
    func frame(at index: Int) throws -> PixelBuffer
}
