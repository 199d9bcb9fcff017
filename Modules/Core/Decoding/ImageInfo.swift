package import FoundationEssentials

/// The properties of an encoded image that are known without decoding pixels.
///
/// ```swift
/// let info = try CodecRegistry.standard.inspect(data)
/// print(info.format, info.uprightSize, info.frameCount)
/// ```
public struct ImageInfo: Sendable, Hashable {
    /// The format that the codec recognized.
    public var format: ImageFormat
    /// The size as stored in the file, before the orientation is applied. For an animation, the size of the canvas.
    public var size: PixelSize
    /// The orientation of the stored rows.
    public var orientation: ImageOrientation
    /// Whether the file declares transparency. If true, all pixels can still be opaque. If false, the frames of an
    /// animation can still leave parts of the canvas transparent.
    public var hasAlpha: Bool
    /// The number of bits per sample in the file.
    public var bitDepth: Int
    /// The color model that the file uses.
    public var colorModel: ColorModel
    /// The number of frames; 1 for a still image.
    public var frameCount: Int
    /// The number of pages that the file has. The other properties are those of one page, by default the first. Pages
    /// after a damaged one, and those beyond ``DecodingLimits/maximumFrameCount``, are not counted. Default: 1.
    public var pageCount = 1
    /// The loop count as stored in the file, or nil when the file has none. GIF counts the repetitions after the first
    /// play; APNG and WebP count the plays. 0 means that the animation repeats forever, in all three formats.
    public var loopCount: Int?
    /// The frame durations as stored in the file. Empty for a still image.
    public var delays: [Duration]
    /// The ICC profile, EXIF, XMP and IPTC, as far as the limits allow, and the resolution.
    public var metadata: ImageMetadata
    /// Whether the file has metadata, other than the ICC profile, that its decoder cannot read. Default: false.
    public var hasDamagedMetadata = false
    /// The color space that the file declares in another way than by an ICC profile, and that takes precedence over it;
    /// nil when the profile in the metadata counts. Default: nil.
    package var colorDescription: ColorDescription?

    /// Creates a description of an image. The defaults describe an upright, opaque 8-bit RGB still image without
    /// metadata. If the metadata has EXIF but no resolution, the resolution is read from EXIF.
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
        if metadata.resolution == nil, let exif = metadata.exif {
            self.metadata.resolution = exif.withUnsafeBytes { ImageResolution(exif: $0.bytes) }
        }
    }

    /// The size after the orientation is applied.
    public var uprightSize: PixelSize { orientation.swapsSides ? size.transposed : size }

    /// The ICC profile of decoded samples, made from ``colorDescription`` if there is one; nil for sRGB, and when the
    /// profile in the metadata does not describe the samples.
    package var sampleProfile: Data? {
        guard let colorDescription else {
            return ICCProfile.ofSamples(metadata.colorProfile, isGray: colorModel.isGray)
        }
        return colorDescription.profile(isGray: colorModel.isGray)
    }

    /// Whether decoded samples are gray with alpha, also because a gray level of the file is transparent.
    package var isGrayWithAlpha: Bool { colorModel.isGray && hasAlpha }

    /// The pixel format that preserves the file's samples without loss.
    package var exactFormat: PixelFormat {
        PixelFormat.gray16.available(isGray: colorModel == .gray && !hasAlpha, isDeep: bitDepth > 8)
    }
}
