/// The limits on the size and the memory of an image.
///
/// Decoders check the limits after the header, before they allocate memory for pixels. An image that exceeds a limit
/// on pixels, bytes or frames is rejected with ``ImageDecodingError`` `exceedsLimit`. Metadata beyond its limits is
/// dropped.
///
/// ```swift
/// var options = DecodingOptions()
/// options.limits = DecodingLimits(maximumPixelCount: 24_000_000, maximumByteCount: 96 << 20)
/// ```
public struct DecodingLimits: Sendable, Hashable {
    /// The maximum number of pixels in one frame. Default: 100 million.
    public var maximumPixelCount: Int
    /// The maximum number of bytes in one frame, including row padding. Default: 512 MiB.
    ///
    /// The limit applies to the full size of the stored frame, even when a target size makes the result smaller. A PNG
    /// is also checked after rotation. A JPEG that is decoded smaller counts one byte per pixel of its full size. For a
    /// JPEG with several scans, the limit applies to the sum of the result and the coefficients.
    public var maximumByteCount: Int
    /// The maximum number of metadata bytes (ICC profile, EXIF, XMP) kept from one file. Metadata beyond the limit is
    /// dropped. Default: 4 MiB.
    package var maximumMetadataByteCount: Int
    /// The maximum number of bytes, after decompression, in one chunk, marker or extension that does not hold pixels. A
    /// larger one is dropped. Default: 4 MiB.
    package var maximumChunkByteCount: Int
    /// The maximum number of frames in an animation. Default: 10,000.
    public var maximumFrameCount: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumPixelCount: The maximum number of pixels in one frame. Default: 100 million.
    ///   - maximumByteCount: The maximum number of bytes in one frame, including row padding. Default: 512 MiB.
    ///   - maximumMetadataByteCount: The maximum number of metadata bytes (ICC profile, EXIF, XMP) kept from one file.
    ///     Metadata beyond the limit is dropped. Default: 4 MiB.
    ///   - maximumChunkByteCount: The maximum number of bytes, after decompression, in one chunk, marker or extension
    ///     that does not hold pixels. A larger one is dropped. Default: 4 MiB.
    ///   - maximumFrameCount: The maximum number of frames in an animation. Default: 10,000.
    public init(
        maximumPixelCount: Int = 100_000_000,
        maximumByteCount: Int = 512 << 20,
        maximumMetadataByteCount: Int = 4 << 20,
        maximumChunkByteCount: Int = 4 << 20,
        maximumFrameCount: Int = 10_000
    ) {
        self.maximumPixelCount = maximumPixelCount
        self.maximumByteCount = maximumByteCount
        self.maximumMetadataByteCount = maximumMetadataByteCount
        self.maximumChunkByteCount = maximumChunkByteCount
        self.maximumFrameCount = maximumFrameCount
    }

    /// Checks the number of frames of an animation. Throws ``ImageDecodingError`` `exceedsLimit` when there are too
    /// many.
    package func check(frameCount: Int) throws(ImageDecodingError) {
        guard frameCount <= maximumFrameCount else {
            // Decoders may stop reading after the first frame beyond the limit.
            throw ImageDecodingError(
                .exceedsLimit,
                "the animation has at least \(frameCount) frames; the limit is \(maximumFrameCount) "
                    + "(DecodingLimits.maximumFrameCount)")
        }
    }

    /// Checks the size of a frame in a pixel format.
    ///
    /// Throws ``ImageDecodingError``: `exceedsLimit` when the frame exceeds the pixel or byte limit, `corrupt` when a
    /// side is less than one pixel.
    public func check(_ size: PixelSize, format: PixelFormat) throws(ImageDecodingError) {
        guard size.isPositive else {
            throw ImageDecodingError(.corrupt, "the image has an invalid size of \(size) pixels")
        }
        guard size.pixelCount <= maximumPixelCount else {
            throw ImageDecodingError(
                .exceedsLimit,
                "\(size) pixels exceed the limit of \(maximumPixelCount) pixels (DecodingLimits.maximumPixelCount)")
        }
        let byteCount = PixelBuffer.byteCount(size: size, format: format)
        if let byteCount, byteCount <= maximumByteCount { return }
        // The count is nil if it overflows.
        let needed = byteCount.map { "\($0)" } ?? "more than \(Int.max)"
        throw ImageDecodingError(
            .exceedsLimit,
            "\(size) pixels need \(needed) bytes with row padding; the limit is \(maximumByteCount) bytes "
                + "(DecodingLimits.maximumByteCount)")
    }
}
