/// What an encoded image says about itself, without decoding a pixel.
public struct ImageInfo: Sendable, Hashable {
    /// The format that recognised the file.
    public var format: ImageFormat
    /// As stored, before the orientation is applied; of an animation the canvas.
    public var size: PixelSize
    /// How the stored rows relate to the upright picture.
    public var orientation: ImageOrientation
    /// Whether the file says that it may have transparent pixels; all may be opaque. Frames of an animation may leave some
    /// where it says nothing.
    public var hasAlpha: Bool
    /// Bits of one sample in the file.
    package var bitDepth: Int
    /// How the file stores colour.
    package var colorModel: ColorModel
    /// Number of frames; 1 for a still image.
    public var frameCount: Int
    /// The number in the file, nil when it has none. In GIF the repeats after the first play, in APNG and WebP the
    /// plays; 0 is for ever in all of them.
    package var loopCount: Int?
    /// How long the file says that each frame stays; empty for a still image.
    public var delays: [Duration]
    /// Profile, EXIF and XMP, as far as the limits allow.
    public var metadata: ImageMetadata

    /// What a decoder has read; by default of an upright still image without metadata.
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

    /// The samples that lose nothing of the file's.
    package var exactFormat: PixelFormat {
        if bitDepth > 8 { return .rgba16 }
        return colorModel == .gray && !hasAlpha ? .gray8 : .rgba8
    }
}

/// How a file stores colour.
public enum ColorModel: String, Sendable, Hashable {
    /// One sample a pixel.
    case gray
    /// Gray and alpha.
    case grayAlpha = "gray-alpha"
    /// Red, green and blue.
    case rgb
    /// Red, green, blue and alpha.
    case rgba
    /// Indices into a table of colours.
    case palette
    /// Luminance and two colour differences; with an alpha plane in WebP.
    case yCbCr = "ycbcr"
    /// Four inks.
    case cmyk
    /// CMYK with its first three inks as luminance and colour differences.
    case ycck
}
