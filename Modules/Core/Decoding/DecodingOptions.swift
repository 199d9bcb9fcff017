/// How an image is decoded.
public struct DecodingOptions: Sendable, Hashable {
    /// What the image may cost at most.
    public var limits: DecodingLimits
    /// Alpha of the result where the file has any; `.straight` keeps the file's own samples. Default: straight.
    public var alphaMode: AlphaMode
    /// Whether the result is upright. False leaves the rows as stored and says so in the image. Default: true.
    public var appliesOrientation: Bool
    /// The size, upright, that is wanted. A decoder that can decode small gives the smallest size it can make that is
    /// not below it in both (`fit`: in one) directions; others ignore it. Default: nil:
    /// the full size, or what a pipeline derives from the first processor (``ImageProcessing/decodingTarget``).
    public var target: TargetSize?
    /// The wanted samples. `gray8` is given for gray images without transparency and `rgba16` for files of more than
    /// 8 bits; everything else comes as `rgba8`, where 16-bit samples lose their low byte. Default: rgba8.
    public var pixelFormat: PixelFormat
    /// Whether a file that ends early or is damaged gives the part there is, marked by ``DecodedImage/partialError``, instead
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

extension DecodingOptions {
    /// Whether an image that is damaged so is handed out as far as it goes. A limit is no damage.
    package func allows(_ error: ImageDecodingError) -> Bool {
        allowsPartial && error.code != .exceedsLimit && error.code != .outOfMemory
    }
}

extension DecodingOptions {
    /// The options for handing out the rows of a whole still picture.
    package var forRows: DecodingOptions {
        var options = self
        options.allowsPartial = false
        options.includesAnimation = false
        return options
    }

    /// What straight rows of full size pass through, on their way to `consumer`, to be what these options ask for:
    /// averaged down, then multiplied by alpha. The orientation is not applied.
    package func chain(from reduction: BoxReduction, to consumer: any PixelRowConsumer) -> any PixelRowConsumer {
        let last = alphaMode == .premultiplied ? RowPremultiplier(next: consumer) : consumer
        return reduction.factor > 1 ? BoxReducer(reduction, next: last) : last
    }
}

/// Multiplies the colour of straight rows by alpha and hands them on. Memory: one row.
private final class RowPremultiplier: PixelRowConsumer {
    private let next: any PixelRowConsumer
    private var format = PixelFormat.rgba8
    private var isNeeded = false
    private var output: [UInt8] = []

    init(next: any PixelRowConsumer) { self.next = next }

    func begin(_ header: PixelRowHeader) throws {
        var header = header
        isNeeded = header.alphaMode == .straight
        format = header.format
        if isNeeded {
            header.alphaMode = .premultiplied
            output = Array(repeating: 0, count: header.bytesPerRow)
        }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard isNeeded else { return try next.consume(row) }
        try output.withUnsafeMutableBytes { output in
            row.withUnsafeBytes { output.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(output.count))) }
            AlphaArithmetic.premultiply(output, format)
            try next.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(output)))
        }
    }

    func finish() throws { try next.finish() }
}
