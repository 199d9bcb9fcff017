public import FoundationEssentials

/// What a stream of rows is, said before the first of them.
public struct PixelRowHeader: Sendable, Hashable {
    /// Width and number of the rows, in pixels.
    public var size: PixelSize
    /// How the samples lie.
    public var format: PixelFormat
    /// How colour relates to alpha.
    public var alphaMode: AlphaMode
    /// The ICC profile that the samples refer to; nil means sRGB.
    public var colorProfile: Data?
    /// How the rows relate to the upright picture.
    public var orientation: ImageOrientation

    /// What rows are; by default upright ones in sRGB.
    public init(
        size: PixelSize,
        format: PixelFormat,
        alphaMode: AlphaMode,
        colorProfile: Data? = nil,
        orientation: ImageOrientation = .up
    ) {
        self.size = size
        self.format = format
        self.alphaMode = alphaMode
        self.colorProfile = colorProfile
        self.orientation = orientation
    }

    /// Bytes of every row.
    public var bytesPerRow: Int { size.width * format.bytesPerPixel }
}
