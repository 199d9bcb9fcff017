public import FoundationEssentials

/// Turns pixels into encoded bytes of one format.
///
/// Calls may come from any thread at the same time and block while they work. Colour profile and orientation are kept
/// as the format allows; each encoder says how.
public protocol ImageEncoding: Sendable {
    /// The format of the bytes.
    var format: ImageFormat { get }

    /// Whether files of the format can hold the frames of the image, and that there are transparent places in it. How many
    /// colours and shades they hold does not count. Default: true for anything but animations.
    func holds(_ image: DecodedImage) -> Bool

    /// Encodes the image; of an animation all frames where the format can hold them, otherwise the first.
    ///
    /// - Throws: ``ImageEncodingError``.
    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data

    /// Makes an encoder of one picture whose rows are still to come, the end of a chain of consumers.
    ///
    /// Its calls throw ``ImageEncodingError``, or what `output` throws. Memory is O(*w*) where the format allows it;
    /// others collect the picture.
    ///
    /// - Parameter output: Takes the encoded bytes piece by piece, valid during the call only.
    func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer
}

extension ImageEncoding {
    public func holds(_ image: DecodedImage) -> Bool { !image.isAnimated }

    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        WholeImageEncoder(encode: { (image) throws(ImageEncodingError) in try encode(image) }, output: output)
    }
}
