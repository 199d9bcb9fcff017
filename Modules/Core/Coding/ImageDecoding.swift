public import FoundationEssentials

/// Turns encoded bytes of one format into pixels.
///
/// Calls may come from any thread at the same time and block while they work, so callers use a ``BlockingExecutor``.
/// Input is hostile: no bytes may crash, hang, read outside `data` or allocate beyond the limits.
public protocol ImageDecoding: Sendable {
    /// Reads the header.
    ///
    /// - Throws: ``ImageDecodingError``.
    /// - Complexity: O(header); no memory for pixels.
    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo

    /// Decodes one whole encoded image; of an animation the first frame.
    ///
    /// - Throws: ``ImageDecodingError``. Never returns a part of an image as if it were whole.
    /// - Complexity: O(*w* × *h*); peak memory is one output buffer and what the format itself needs.
    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage
}
