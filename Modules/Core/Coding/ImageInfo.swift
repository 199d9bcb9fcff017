/// What an encoded image says about itself, without decoding a pixel.
public struct ImageInfo: Sendable, Hashable {
    public var format: ImageFormat
    /// As stored, before the orientation is applied; of an animation the canvas.
    public var size: PixelSize
    public var orientation: ImageOrientation
    public var hasAlpha: Bool
    /// Bits of one sample in the file.
    public var bitDepth: Int
    public var colorModel: ColorModel
    public var frameCount: Int
    /// The number in the file, nil when it has none. In GIF the repeats after the first play, in APNG and WebP the
    /// plays; 0 is for ever in all of them.
    public var loopCount: Int?
    /// How long the file says that each frame stays; empty for a still image.
    public var delays: [Duration]
    public var metadata: ImageMetadata

    public init(
        format: ImageFormat,
        size: PixelSize,
        orientation: ImageOrientation = .up,
        hasAlpha: Bool = false,
        bitDepth: Int = 8,
        colorModel: ColorModel = .rgb,
        frameCount: Int = 1,
        loopCount: Int? = nil,
        delays: [Duration] = [],
        metadata: ImageMetadata = ImageMetadata()
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.hasAlpha = hasAlpha
        self.bitDepth = bitDepth
        self.colorModel = colorModel
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.delays = delays
        self.metadata = metadata
    }

    /// The size that a person sees.
    public var uprightSize: PixelSize { orientation.swapsSides ? size.transposed : size }
}
