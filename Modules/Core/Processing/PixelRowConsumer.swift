public import FoundationEssentials

/// A receiver of the rows of an image, from top to bottom. With it, processing needs memory for only a few rows.
///
/// The decoder calls ``begin(_:)`` once, then ``consume(_:)`` once for each row, then ``finish()``. After a decoding
/// error, or after a call throws, no further call follows. Only one thread at a time makes calls. Consumers form
/// chains: a resizer passes its rows to the next consumer, and an encoder is the last one.
public protocol PixelRowConsumer: AnyObject {
    /// Prepares for rows of this size and format. The decoder has already checked the limits.
    ///
    /// Throws when the consumer cannot use the rows. The error ends the decoding, and the decoder throws it. This also
    /// applies to the other methods.
    func begin(_ header: PixelRowHeader) throws

    /// Receives the next row: ``PixelRowHeader/bytesPerRow`` bytes, valid only during the call.
    ///
    /// Throws as ``begin(_:)`` does.
    func consume(_ row: RawSpan) throws

    /// Completes the image. The decoder calls this method only after it has passed on every row and found no error
    /// that the options do not tolerate.
    ///
    /// Throws as ``begin(_:)`` does.
    func finish() throws

    /// Returns the maximum number of bytes that this consumer, and those to which it passes rows, hold for rows with
    /// this header.
    ///
    /// Callers reserve the bytes in a memory budget before they decode, so they call this method before
    /// ``begin(_:)``. The header is an estimate from the properties of the file: the rows can be fewer and shorter. A
    /// consumer that passes rows on adds the bytes of the next consumer for the rows that it passes on. The result is
    /// `Int.max` when the number overflows.
    ///
    /// Default: 0, with which the memory is in no budget.
    func byteCount(for header: PixelRowHeader) -> Int
}

extension PixelRowConsumer {
    /// The default, 0, with which the memory of the consumer is in no budget.
    public func byteCount(for header: PixelRowHeader) -> Int { 0 }
}

/// The properties of the rows of an image.
public struct PixelRowHeader: Sendable, Hashable {
    /// The size of the image in pixels: the width of each row and the number of rows.
    public var size: PixelSize
    /// The layout of the samples.
    public var format: PixelFormat
    /// The relation of color to alpha.
    public var alphaMode: AlphaMode
    /// The ICC profile of the samples; nil means sRGB.
    public var colorProfile: Data?
    /// The orientation that a viewer must apply to the rows. The first row is the top one only if it is `up`.
    public var orientation: ImageOrientation
    /// Whether the samples are inks: cyan, magenta, yellow and black, of which 255 means no ink, in the layout of
    /// `.rgba8`. Default: false.
    ///
    /// Only a ``ColorConverting`` receives such rows. Pixels of four zero bytes in rows that are not opaque are missing
    /// pixels of a partial image.
    public var hasInks = false
    /// The color model of the file, if no processor changed the pixels, or if they still fit it; otherwise nil. An
    /// encoder can then store the pixels in the same model, for example with a palette. Decoders leave it nil, and the
    /// caller of the encoder sets it. A consumer that changes the colors and passes the rows on sets it to nil.
    /// Default: nil.
    public var storedModel: ColorModel?
    /// The position of the rows in the full image, when a decoder reduced the image; nil in all other cases. Default:
    /// nil. Consumers that pass on rows of another size set it to nil.
    public var reduction: ImageReduction?

    /// Creates a header. By default the rows are upright and in sRGB.
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

    /// The number of bytes in each row, without padding.
    public var bytesPerRow: Int { size.width * format.bytesPerPixel }
}

extension DecodedImage {
    /// The header of this image's rows.
    package var rowHeader: PixelRowHeader {
        var header = PixelRowHeader(
            size: size, format: pixels.format, alphaMode: pixels.alphaMode, colorProfile: colorProfile,
            orientation: orientation)
        header.hasInks = hasInks
        header.storedModel = storedModel
        header.reduction = reduction
        return header
    }

    /// Sends the image, or the first frame of an animation, to `consumer`: begins it, sends all rows and finishes it.
    /// Returns the image's damage, for the implementations of ``ImageReading/decodeRows(_:into:)``. Throws the
    /// error that the consumer throws.
    @discardableResult
    package func sendRows(to consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try consumer.begin(rowHeader)
        for y in 0..<pixels.height { try consumer.consume(pixels.row(y)) }
        try consumer.finish()
        return damage
    }
}
