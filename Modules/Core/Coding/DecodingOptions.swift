/// How an image is decoded.
public struct DecodingOptions: Sendable, Hashable {
    /// What the image may cost at most.
    public var limits: DecodingLimits
    /// Alpha of the result where the file has any; `.straight` keeps the file's own samples. Default: straight.
    public var alphaMode: AlphaMode
    /// Whether the result is upright. False leaves the rows as stored and says so in the image. Default: true.
    public var appliesOrientation: Bool
    /// The size, upright, that is wanted. A decoder that can decode small gives the smallest size it can make that is
    /// not below it in both (`fit`: in one) directions; others ignore it. Default: nil, the full size.
    public var target: TargetSize?
    /// The wanted samples. `gray8` is given for gray images without transparency and `rgba16` for files of more than
    /// 8 bits; everything else comes as `rgba8`, where 16-bit samples lose their low byte. Default: rgba8.
    public var pixelFormat: PixelFormat
    /// Whether a file that ends early or is damaged gives the part there is, marked by ``DecodedImage/damage``, instead
    /// of an error. Default: false.
    public var allowsPartial: Bool
    /// Whether an animation comes with its frames; false gives the first as a still image. Default: true.
    public var includesAnimation: Bool

    /// By default a whole image, upright, at its full size, within the default limits.
    public init(
        limits: DecodingLimits = DecodingLimits(),
        alphaMode: AlphaMode = .straight,
        appliesOrientation: Bool = true,
        target: TargetSize? = nil,
        pixelFormat: PixelFormat = .rgba8,
        allowsPartial: Bool = false,
        includesAnimation: Bool = true
    ) {
        self.limits = limits
        self.alphaMode = alphaMode
        self.appliesOrientation = appliesOrientation
        self.target = target
        self.pixelFormat = pixelFormat
        self.allowsPartial = allowsPartial
        self.includesAnimation = includesAnimation
    }
}
