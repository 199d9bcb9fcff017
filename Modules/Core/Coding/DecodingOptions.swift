/// How an image is decoded.
public struct DecodingOptions: Sendable, Hashable {
    public var limits: DecodingLimits
    /// Alpha of the result where the file has any; `.straight` keeps the file's own samples. Default: straight.
    public var alphaMode: AlphaMode
    /// Whether the result is upright. False leaves the rows as stored and says so in the image. Default: true.
    public var appliesOrientation: Bool
    /// The size, upright, that is wanted. A decoder that can decode small gives the smallest size it can make that is
    /// not below it in both (`fit`: in one) directions; others ignore it. Default: nil, the full size.
    public var target: TargetSize?

    public init(
        limits: DecodingLimits = DecodingLimits(),
        alphaMode: AlphaMode = .straight,
        appliesOrientation: Bool = true,
        target: TargetSize? = nil
    ) {
        self.limits = limits
        self.alphaMode = alphaMode
        self.appliesOrientation = appliesOrientation
        self.target = target
    }
}
