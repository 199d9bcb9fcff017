/// What an image may cost at most. Checked after the header and before anything is allocated for pixels.
public struct DecodingLimits: Sendable, Hashable {
    /// Most pixels of one frame. Default: 100 million.
    public var maximumPixelCount: Int
    /// Most bytes of one frame at its full size, as it is stored and as it is turned, row padding included, also where a
    /// target makes it smaller; such a JPEG counts a byte a pixel. Of a JPEG in several scans, picture and coefficients
    /// together. Default: 512 MiB.
    public var maximumByteCount: Int
    /// Most bytes of metadata (profile, EXIF, XMP) kept from one file; what is beyond is left out. Default: 4 MiB.
    package var maximumMetadataByteCount: Int
    /// Most bytes of one chunk, marker or extension that is not pixels, unpacked; a larger one is left out.
    /// Default: 4 MiB.
    package var maximumChunkByteCount: Int
    /// Most frames of an animation. Default: 10,000.
    public var maximumFrameCount: Int

    /// Limits; those that are not given are the defaults.
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

    /// Throws ``ImageDecodingError`` with `exceedsLimit` unless an animation may have this many frames.
    package func check(frameCount: Int) throws(ImageDecodingError) {
        guard frameCount <= maximumFrameCount else {
            throw ImageDecodingError(
                .exceedsLimit, "\(frameCount) frames are more than the limit of \(maximumFrameCount)")
        }
    }

    /// Throws ``ImageDecodingError`` with `exceedsLimit` unless a frame of this size and format is allowed, with `corrupt`
    /// for a side below one.
    public func check(_ size: PixelSize, format: PixelFormat) throws(ImageDecodingError) {
        guard size.isPositive else {
            throw ImageDecodingError(.corrupt, "the image claims \(size) pixels")
        }
        guard size.pixelCount <= maximumPixelCount else {
            throw ImageDecodingError(
                .exceedsLimit, "\(size) pixels are more than the limit of \(maximumPixelCount) pixels")
        }
        guard let bytes = PixelBuffer.byteCount(size: size, format: format), bytes <= maximumByteCount else {
            throw ImageDecodingError(
                .exceedsLimit, "\(size) pixels need more than the limit of \(maximumByteCount) bytes")
        }
    }
}
