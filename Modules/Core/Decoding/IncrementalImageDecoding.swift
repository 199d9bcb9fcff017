public import FoundationEssentials

/// Decodes one image while its bytes arrive.
///
/// Calls may come from any thread, block while they work and take turns: one at a time is inside. Bytes are kept until
/// the end where the format needs them, so the caller bounds how many it appends. After an error every further call
/// throws the same.
public protocol IncrementalImageDecoding: AnyObject, Sendable {
    /// What the header says; nil until enough bytes have come. Never changes afterwards, but for what files say behind
    /// their pixels: the frames of an animation, and metadata with the orientation in them.
    var info: ImageInfo? { get }

    /// The maximum number of bytes that ``append(_:)`` and ``preview()`` hold at once, encoded bytes and previews that the
    /// caller keeps not counted: for budgets. nil until enough bytes have come to tell.
    ///
    /// A decoder of this package allocates nothing for pixels in the call of ``append(_:)`` that makes it known, so that a
    /// caller can still decide. ``finish()`` may hold as much as ``ImageDecoding/decodingByteCount(_:options:)`` says
    /// in addition. Default: two images of the full size in RGBA8, once ``info`` is known.
    var decodingByteCount: Int? { get }

    /// Takes the next bytes of the file and decodes as far as they reach, or as far as the header in the call that
    /// completes it: the bytes behind it are decoded by the next call of any kind.
    ///
    /// - Throws: ``ImageDecodingError`` as soon as the bytes are seen to be wrong, or beyond the limits.
    func append(_ bytes: Data) throws(ImageDecodingError)

    /// The picture so far; nil before the first row, and when nothing has come since the last call.
    ///
    /// - Throws: ``ImageDecodingError``: that of an earlier call, or that there is no memory for it.
    /// - Complexity: O(*w* × *h*): the pixels are copied. Costs nothing when it is not called.
    func preview() throws(ImageDecodingError) -> ImagePreview?

    /// Ends the file and returns the image: the same, to the bit, that decoding all bytes at once gives, or the same
    /// error. To be called once.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` when bytes are missing.
    func finish() throws(ImageDecodingError) -> DecodedImage
}

extension IncrementalImageDecoding {
    public var decodingByteCount: Int? {
        guard let info else { return nil }
        // As it is stored, and as it is turned, which may be another number for the padding of rows.
        let shown = info.orientation.swapsSides ? info.size.transposed : info.size
        let sizes = [info.size, shown].map { PixelBuffer.byteCount(size: $0, format: .rgba8) ?? Int.max }
        let (total, overflow) = sizes[0].addingReportingOverflow(sizes[1])
        return overflow ? Int.max : total
    }
}

/// What can be shown of an image whose bytes are still arriving.
public struct ImagePreview: Sendable {
    /// The picture so far; what has not come is transparent black, or coarser than it will be.
    public var image: DecodedImage
    /// How many times the picture has been gone over, counting the pass in progress: scans of a progressive JPEG,
    /// passes of an interlaced PNG; 1 where rows come once.
    package var pass: Int
    /// Rows from the top that have come in this pass, all of them when the pass is complete.
    package var rowCount: Int

    /// What can be shown so far; by default of a format with one pass.
    public init(image: DecodedImage, pass: Int = 1, rowCount: Int) {
        self.image = image
        self.pass = pass
        self.rowCount = rowCount
    }
}
