public import FoundationEssentials

/// A picture ready to show: pixels and what is needed to show them rightly.
public struct DecodedImage: Sendable {
    /// The picture; of an animation its first frame.
    public var pixels: PixelBuffer
    /// The ICC profile that the samples refer to; nil means sRGB.
    public var colorProfile: Data?
    /// How the rows relate to the upright picture. `.up` once a decoder has applied the file's orientation.
    public var orientation: ImageOrientation
    /// Pixels for each point of a layout.
    public var scale: Double
    /// The format the image was decoded from; nil when it was made in memory.
    public var format: ImageFormat?
    /// The animation, when the image has more than one frame; ``pixels`` is then its first.
    public var frames: (any ImageFrameSource)?
    /// Why this is only a part of the image; nil when it is whole. Only asked for parts are ever returned: see
    /// ``DecodingOptions/allowsPartial``. What is missing is transparent black, or coarser than it should be.
    public var partialError: ImageDecodingError?

    /// The size of the whole picture, where the pipeline had it decoded smaller for the first processor, so that the
    /// processor's result gets the size that it has without that; nil everywhere else.
    package var fullSize: PixelSize?

    /// An image of pixels; by default a still, upright one in sRGB, a pixel to a point, made in memory.
    public init(
        pixels: PixelBuffer,
        colorProfile: Data? = nil,
        orientation: ImageOrientation = .up,
        scale: Double = 1,
        format: ImageFormat? = nil,
        frames: (any ImageFrameSource)? = nil,
        partialError: ImageDecodingError? = nil
    ) {
        self.pixels = pixels
        self.colorProfile = colorProfile
        self.orientation = orientation
        self.scale = scale
        self.format = format
        self.frames = frames
        self.partialError = partialError
    }

    /// Size of the stored picture in pixels, before ``orientation`` is applied.
    public var size: PixelSize { pixels.size }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { (frames?.frameCount ?? 1) > 1 }

    /// Whether something of the image is missing; ``partialError`` says why.
    package var isPartial: Bool { partialError != nil }

    /// Bytes that the image occupies: pixel rows with their padding, profile and animation.
    public var cost: Int {
        pixels.byteCount + (colorProfile?.count ?? 0) + (frames?.cost ?? 0)
    }
}

extension DecodedImage {
    /// Gives the image back while something holds its pixels, and its animation if it has one. Keeps nothing large alive
    /// itself: a colour profile at most. nil when that cannot be, because the animation's frames are no object.
    public var weakReference: (@Sendable () -> DecodedImage?)? {
        let pixels = pixels.weakReference
        let animation = frames as? any ImageFrameSource & AnyObject
        guard frames == nil || animation != nil else { return nil }
        let isAnimated = animation != nil
        return { [colorProfile, orientation, scale, format, partialError, fullSize, weak animation] in
            guard let pixels = pixels(), !isAnimated || animation != nil else { return nil }
            var image = DecodedImage(
                pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
                frames: animation, partialError: partialError)
            image.fullSize = fullSize
            return image
        }
    }
}

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

/// Frames that are made of those of another source, with its canvas, delays, number of plays and cost.
package protocol DerivedFrameSource: ImageFrameSource {
    /// The frames that these are made of.
    var source: any ImageFrameSource { get }
}

extension DerivedFrameSource {
    package var canvasSize: PixelSize { source.canvasSize }
    package var frameCount: Int { source.frameCount }
    package var playCount: Int? { source.playCount }
    package var cost: Int { source.cost }

    package func delay(at index: Int) -> Duration { source.delay(at: index) }

    package func rawDelay(at index: Int) -> Duration { source.rawDelay(at: index) }
}
