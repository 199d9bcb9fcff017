public import FoundationEssentials

/// Turns pixels into encoded bytes of one format.
///
/// Calls may come from any thread at the same time and block while they work.
public protocol ImageEncoding: Sendable {
    /// The format of the bytes.
    var format: ImageFormat { get }
    /// Encodes the image; of an animation the first frame.
    ///
    /// - Throws: ``ImageEncodingError``.
    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data
}
