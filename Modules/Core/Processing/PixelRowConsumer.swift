public import FoundationEssentials

/// Takes the rows of a picture one after another, top row first, so that work on a picture needs memory for rows only.
///
/// A decoder calls ``begin(_:)`` once, then ``consume(_:)`` once for every row, then ``finish()``. When decoding fails,
/// or a call throws, no further call follows. All calls come from one thread at a time. Consumers form chains: a
/// resizer hands what it makes to the next, and an encoder ends the chain.
public protocol PixelRowConsumer: AnyObject {
    /// Prepares for rows of this size and format. Called after the limits were checked.
    ///
    /// Throws what makes the rows useless to it, which ends the decoding and is its error; so do the others.
    func begin(_ header: PixelRowHeader) throws

    /// Takes the next row: ``PixelRowHeader/bytesPerRow`` bytes, valid during the call only.
    ///
    /// Throws as ``begin(_:)``.
    func consume(_ row: RawSpan) throws

    /// Ends the picture. Called only when every row has come and the file was found whole.
    ///
    /// Throws as ``begin(_:)``.
    func finish() throws
}

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

extension DecodedImage {
    /// What a stream of this picture's rows begins with.
    package var rowHeader: PixelRowHeader {
        PixelRowHeader(
            size: size, format: pixels.format, alphaMode: pixels.alphaMode, colorProfile: colorProfile,
            orientation: orientation)
    }

    /// Hands all rows to `consumer`, from its beginning to its end. Throws what the consumer throws.
    package func sendRows(to consumer: any PixelRowConsumer) throws {
        try consumer.begin(rowHeader)
        for y in 0..<pixels.height { try consumer.consume(pixels.row(y)) }
        try consumer.finish()
    }
}
