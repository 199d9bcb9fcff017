public import FoundationEssentials

/// A picture ready to show: pixels and what is needed to show them rightly.
public struct DecodedImage: Sendable {
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

    public init(
        pixels: PixelBuffer,
        colorProfile: Data? = nil,
        orientation: ImageOrientation = .up,
        scale: Double = 1,
        format: ImageFormat? = nil,
        frames: (any ImageFrameSource)? = nil
    ) {
        self.pixels = pixels
        self.colorProfile = colorProfile
        self.orientation = orientation
        self.scale = scale
        self.format = format
        self.frames = frames
    }

    public var size: PixelSize { pixels.size }

    /// Bytes that the image occupies: pixel rows with their padding, profile and animation.
    public var cost: Int {
        pixels.byteCount + (colorProfile?.count ?? 0) + (frames?.cost ?? 0)
    }
}
