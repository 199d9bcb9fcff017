/// Options for decoding an image.
///
/// ```swift
/// let options = DecodingOptions(alphaMode: .premultiplied, target: TargetSize(width: 200, height: 200))
/// let image = try CodecRegistry.standard.decode(data, options: options)
/// ```
public struct DecodingOptions: Sendable, Hashable {
    /// The limits on the memory and the size of the image.
    public var limits: DecodingLimits
    /// The alpha mode of the result when the file has transparency. `.straight` keeps the samples of the file.
    /// `.opaque` has the same effect as `.straight`. Default: `.straight`.
    public var alphaMode: AlphaMode
    /// Whether the decoder applies the orientation, so that the result is upright. If false, the rows stay as stored
    /// and ``DecodedImage/orientation`` describes them. Default: true.
    public var appliesOrientation: Bool
    /// The requested size, in upright orientation.
    ///
    /// A decoder that can scale while decoding returns the smallest size it supports that reaches the target. With the
    /// mode `.fit`, one direction must reach the target, and with `.fill` both. Other decoders ignore the target.
    ///
    /// The target is a lower bound for the decoder and not the size of the result. The decoder's own reduction is fast
    /// and needs little memory, but it aliases: stripes and text become patterns, and photos at the target's size have
    /// about 5 to 15 dB less than with a filter. For an image of a given size, use the processor `.resize` without a
    /// target.
    ///
    /// Default: nil, which means the full size, or in a pipeline the size that the first processor needs
    /// (``ImageProcessing/decodingTarget``).
    public var target: TargetSize?
    /// The requested pixel format.
    ///
    /// `.gray8` is used only for gray images without transparency, and `.rgba16` only for files with more than 8 bits
    /// per sample. `.gray16` is used only for both: other gray images without transparency become `.gray8`, and other
    /// files with more than 8 bits `.rgba16`. In all other cases, and for animations, the result is `.rgba8`, in which
    /// 16-bit samples lose their low byte. Default: `.rgba8`.
    public var pixelFormat: PixelFormat
    /// The most damage of a file that still gives an image. A file with more damage is an error, and so is a file
    /// without any decodable pixels. ``DecodedImage/damage`` tells what was wrong.
    ///
    /// Default: `.wrongPixels`, which shows what browsers show, except for partial images.
    public var tolerance: DamageTolerance
    /// Whether the result of decoding an animation includes all frames. If false, the result is the first frame as a
    /// still image. Default: true.
    public var includesAnimation: Bool
    /// Whether the inks of a CMYK file with an ICC profile for them are returned without a conversion: see
    /// ``PixelRowHeader/hasInks``. Set by callers that convert the colors. If false, the result is in sRGB, computed by
    /// a formula without the profile. Default: false.
    public var keepsInks = false
    /// Whether the caller reduces the image with a filter. Decoders that can only average whole pixels then ignore
    /// ``target``, because averages before the filter show stripes and text where the file has none. Default: false.
    public var isFiltered = false

    /// The range of luminance of the result. Default: `.standard`.
    ///
    /// With `.high`, a JPEG or HEIF with a gain map becomes an HDR image: `.rgba16` in PQ, with a profile that says so,
    /// at full size. Decoders return the samples of other files unchanged in both cases. A pipeline and an image
    /// converter then convert no image in PQ or HLG to another color space, and keep samples of more than 8 bits.
    ///
    /// A gain map that cannot be used is ignored, and reported as harmless damage. So is one whose HDR image exceeds
    /// the ``limits``: the result is the SDR image.
    public var dynamicRange = DynamicRange.standard

    /// Creates options. By default an image is decoded at its full size, upright, within the default limits, and
    /// missing pixels are an error. If `allowsPartial` is true, the tolerance is `.missingPixels`.
    public init(
        limits: DecodingLimits = DecodingLimits(),
        alphaMode: AlphaMode = .straight,
        appliesOrientation: Bool = true,
        target: TargetSize? = nil,
        pixelFormat: PixelFormat = .rgba8,
        tolerance: DamageTolerance = .wrongPixels,
        allowsPartial: Bool = false,
        includesAnimation: Bool = true
    ) {
        self.limits = limits
        self.alphaMode = alphaMode
        self.appliesOrientation = appliesOrientation
        self.target = target
        self.pixelFormat = pixelFormat
        self.tolerance = allowsPartial ? .missingPixels : tolerance
        self.includesAnimation = includesAnimation
    }
}

extension DecodingOptions {
    /// Whether a truncated or damaged file can produce a partial image instead of an error, which
    /// ``DecodedImage/partialError`` marks as partial. False by default.
    ///
    /// True when the ``tolerance`` is `.missingPixels`. Setting false lowers that tolerance to `.wrongPixels`, and
    /// keeps a lower one.
    public var allowsPartial: Bool {
        get { tolerance == .missingPixels }
        set { tolerance = newValue ? .missingPixels : min(tolerance, .wrongPixels) }
    }

    /// Throws the error of damage that exceeds the tolerance.
    package func check(_ damage: ImageDamage?) throws(ImageDecodingError) {
        if let damage, damage.kind > tolerance { throw damage.error }
    }

    /// Whether a still image is decoded by its rows, which a filter takes, so that a decoder that can decode row by row
    /// never holds the whole image. Rows of a partial image could not be taken back.
    package var passesRows: Bool { isFiltered && !allowsPartial }

    /// The target size of decoders that average whole pixels; nil if the caller reduces the image with a filter.
    package var averagingTarget: TargetSize? { isFiltered ? nil : target }

    /// Whether a file with this error can produce a partial image. Exceeded limits, exhausted memory and failures of
    /// the decoder itself always remain errors.
    package func allows(_ error: ImageDecodingError) -> Bool {
        let lasting: [ImageDecodingError.Code] = [
            .exceedsLimit, .timedOut, .outOfMemory, .decoderFailed, .decoderUnavailable,
        ]
        return allowsPartial && !lasting.contains(error.code)
    }
}

extension DecodingOptions {
    /// These options with the pixel format that the dynamic range needs. HDR shows steps between samples of 8 bits.
    package var withDepthOfRange: DecodingOptions {
        guard dynamicRange == .high else { return self }
        var options = self
        options.pixelFormat = pixelFormat.isGray ? .gray16 : .rgba16
        return options
    }

    /// The options for passing on the rows of a still image, which cannot be partial, because rows that were passed on
    /// cannot be taken back.
    package var forRows: DecodingOptions {
        var options = self
        options.allowsPartial = false
        options.includesAnimation = false
        return options
    }

    /// Returns a consumer that converts straight, full-size rows as these options request and passes them to
    /// `consumer`.
    ///
    /// The consumer first averages rows down if `reduction` makes the image smaller. It then multiplies color by alpha
    /// if ``alphaMode`` is `.premultiplied`. The orientation is not applied.
    package func chain(from reduction: BoxReduction, to consumer: any PixelRowConsumer) -> any PixelRowConsumer {
        let last = alphaMode == .premultiplied ? RowPremultiplier(next: consumer) : consumer
        return reduction.factor > 1 ? BoxReducer(reduction, next: last) : last
    }
}

/// A consumer that multiplies the color of straight rows by alpha and passes them on. Memory: one row.
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
