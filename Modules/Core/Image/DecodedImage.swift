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
    public var damage: ImageDecodingError?

    /// An image of pixels; by default a still, upright one in sRGB, a pixel to a point, made in memory.
    public init(
        pixels: PixelBuffer,
        colorProfile: Data? = nil,
        orientation: ImageOrientation = .up,
        scale: Double = 1,
        format: ImageFormat? = nil,
        frames: (any ImageFrameSource)? = nil,
        damage: ImageDecodingError? = nil
    ) {
        self.pixels = pixels
        self.colorProfile = colorProfile
        self.orientation = orientation
        self.scale = scale
        self.format = format
        self.frames = frames
        self.damage = damage
    }

    /// Size of the stored picture in pixels, before ``orientation`` is applied.
    public var size: PixelSize { pixels.size }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { (frames?.frameCount ?? 1) > 1 }

    /// Whether something of the image is missing; ``damage`` says why.
    public var isPartial: Bool { damage != nil }

    /// Bytes that the image occupies: pixel rows with their padding, profile and animation.
    public var cost: Int {
        pixels.byteCount + (colorProfile?.count ?? 0) + (frames?.cost ?? 0)
    }
}
