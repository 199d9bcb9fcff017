public import FoundationEssentials

/// A decoder of one image whose bytes arrive in pieces.
///
/// Calls may come from any thread and block while they work. They run one at a time. Decoders of some formats keep all
/// bytes until the end, so the caller must bound the number of bytes that it appends. After an error, every further
/// throwing call throws the same error.
public protocol IncrementalImageDecoding: AnyObject, Sendable {
    /// The properties read from the header, or nil until enough bytes have arrived. A decoder that only collects bytes
    /// reads the header in ``finish()``.
    ///
    /// Later calls change only the values that depend on bytes after the first pixels: the frames, the loop count and
    /// the transparency of an animation, and metadata together with its orientation.
    var info: ImageInfo? { get }

    /// The maximum number of bytes that ``append(_:)`` and ``preview()`` hold at once, or nil until enough bytes have
    /// arrived to compute it. The value can stay nil for a decoder that decodes only in ``finish()``. Callers use it to
    /// stay within a memory budget.
    ///
    /// The encoded bytes are not included, and neither are the previews that the caller keeps. ``finish()`` may hold up
    /// to ``ImageReading/decodingByteCount(_:)`` bytes in addition. The decoders of this package allocate no
    /// pixels in the call of ``append(_:)`` that makes the value known, so the caller can still stop.
    ///
    /// Default: the size of two full-size RGBA8 images, or nil until ``info`` is known.
    var decodingByteCount: Int? { get }

    /// Appends the next bytes of the file and decodes as many of them as possible.
    ///
    /// The call that completes the header decodes only the header. Later calls decode the bytes after the header. Empty
    /// data has no effect.
    ///
    /// - Throws: ``ImageDecodingError`` when the bytes are found to be invalid or to exceed the limits, or when memory
    ///   is exhausted. A decoder may report invalid bytes only in ``finish()``, for example when the options allow
    ///   partial images.
    func append(_ bytes: Data) throws(ImageDecodingError)

    /// Returns the image decoded so far. Returns nil when too few bytes have arrived for a preview, and when no new
    /// pixels have been decoded since the last call. A decoder without previews always returns nil.
    ///
    /// - Throws: ``ImageDecodingError``: the error of an earlier call, an error in the bytes that this call decodes, or
    ///   `outOfMemory`.
    /// - Complexity: O(*w* × *h*), because the pixels are copied. Decoding without previews has no such cost.
    func preview() throws(ImageDecodingError) -> ImagePreview?

    /// Decodes the remaining bytes and returns the image. Call this method once, after all bytes have been appended.
    ///
    /// The result is bit-identical to the result of decoding all bytes at once. If decoding all bytes at once fails,
    /// this method throws the same error.
    ///
    /// - Throws: ``ImageDecodingError`` as ``ImageDecoding/decode(_:options:)`` does; `truncated` when bytes are
    ///   missing and the options allow no partial image.
    func finish() throws(ImageDecodingError) -> DecodedImage
}

extension IncrementalImageDecoding {
    /// The size of two full-size RGBA8 images, or nil until ``info`` is known.
    public var decodingByteCount: Int? {
        guard let info else { return nil }
        // The stored image and the rotated image can have different sizes in bytes, because rows are padded.
        let sizes = [info.size, info.uprightSize].map { PixelBuffer.byteCount(size: $0, format: .rgba8) ?? Int.max }
        return sizes[0].addingClamped(sizes[1])
    }
}

/// A preview of an image whose bytes are still arriving.
public struct ImagePreview: Sendable {
    /// The image decoded so far. Missing pixels are transparent black, or have a lower resolution than in the final
    /// image, such as that of a thumbnail in the file.
    public var image: DecodedImage
    /// The number of the current pass, starting at 1: a scan of a progressive JPEG or a pass of an interlaced PNG. 1
    /// for formats that store each row once.
    public var pass: Int
    /// The number of rows, from the top, that this pass has decoded. Equal to the height when the pass is complete, and
    /// zero when only a thumbnail is shown. Rows are counted as stored, before the orientation is applied.
    public var rowCount: Int

    /// Creates a preview. By default, it shows the first pass.
    public init(image: DecodedImage, pass: Int = 1, rowCount: Int) {
        self.image = image
        self.pass = pass
        self.rowCount = rowCount
    }
}
