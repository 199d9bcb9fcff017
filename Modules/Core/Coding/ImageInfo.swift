/// What the header of an encoded image says, without decoding a pixel.
public struct ImageInfo: Sendable, Hashable {
    public var format: ImageFormat
    /// As stored, before the orientation is applied.
    public var size: PixelSize
    public var orientation: ImageOrientation
    public var hasAlpha: Bool
    /// Bits of one sample in the file.
    public var bitDepth: Int
    public var frameCount: Int

    public init(
        format: ImageFormat,
        size: PixelSize,
        orientation: ImageOrientation = .up,
        hasAlpha: Bool = false,
        bitDepth: Int = 8,
        frameCount: Int = 1
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.hasAlpha = hasAlpha
        self.bitDepth = bitDepth
        self.frameCount = frameCount
    }

    /// The size that a person sees.
    public var uprightSize: PixelSize { orientation.swapsSides ? size.transposed : size }
}
