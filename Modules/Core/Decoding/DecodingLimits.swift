import AlcedoRuntime

/// The limits on the size and the memory of an image.
///
/// ```swift
/// var options = DecodingOptions()
/// options.limits = DecodingLimits(maximumPixelCount: 24_000_000, maximumByteCount: 96 << 20)
/// ```
///
/// Decoders check the limits after the header, before they allocate memory for pixels. An image that exceeds a limit
/// on pixels, bytes or frames is rejected with ``ImageDecodingError`` `exceedsLimit`. Metadata beyond its limits is
/// dropped.
public struct DecodingLimits: Sendable, Hashable {
    /// The maximum number of pixels in one frame. Default: 100 million.
    public var maximumPixelCount: Int
    /// The maximum number of bytes in one frame, including row padding. Default: 512 MiB.
    ///
    /// The limit applies to the full size of the stored frame, even when a target size makes the result smaller. A PNG
    /// is also checked after rotation. A JPEG that is decoded smaller counts one byte per pixel of its full size. For a
    /// JPEG with several scans, the limit applies to the sum of the result and the coefficients, for an animation to
    /// its canvases, and for JPEG XL to all that decoding holds. If all that is held for the HDR image of a gain map
    /// exceeds the limit, the map is ignored (``DecodingOptions/dynamicRange``).
    public var maximumByteCount: Int
    /// The maximum number of metadata bytes (ICC profile, EXIF, XMP) kept from one file. Metadata beyond the limit is
    /// dropped. Default: 4 MiB.
    public var maximumMetadataByteCount: Int
    /// The maximum number of bytes, after decompression, in one chunk, marker or extension that does not hold pixels. A
    /// larger one is dropped. Default: 4 MiB.
    public var maximumChunkByteCount: Int
    /// The maximum number of frames in an animation. Default: 10,000.
    public var maximumFrameCount: Int
    /// The maximum number of pixels that all frames of an animation have together, each with the size of the canvas or
    /// its own, whichever is larger. Default: 4 billion, which is 1,900 frames of 1920 × 1080.
    ///
    /// A small file can have thousands of large frames, which would take hours. The limit is checked before the first
    /// frame is decoded. It does not apply to a decode without ``DecodingOptions/includesAnimation``. The pixels of a
    /// JPEG that is decoded twice, because its reduced size would change text, count twice: beyond the limit, it is
    /// decoded once.
    public var maximumTotalPixelCount: Int

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
    ///   - maximumTotalPixelCount: The maximum number of pixels in all frames of an animation. Default: 4 billion.
    public init(
        maximumPixelCount: Int = 100_000_000,
        maximumByteCount: Int = 512 << 20,
        maximumMetadataByteCount: Int = 4 << 20,
        maximumChunkByteCount: Int = 4 << 20,
        maximumFrameCount: Int = 10_000,
        maximumTotalPixelCount: Int = 4_000_000_000
    ) {
        self.maximumPixelCount = maximumPixelCount
        self.maximumByteCount = maximumByteCount
        self.maximumMetadataByteCount = maximumMetadataByteCount
        self.maximumChunkByteCount = maximumChunkByteCount
        self.maximumFrameCount = maximumFrameCount
        self.maximumTotalPixelCount = maximumTotalPixelCount
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

    /// Checks the number of pixels in all frames of an animation, and the memory for the largest frame and two
    /// canvases, before a frame is decoded. One canvas is the frame that a caller has, and the next one is drawn on the
    /// other.
    ///
    /// Throws ``ImageDecodingError`` `exceedsLimit` when one of them exceeds its limit.
    package func check(_ layout: AnimationLayout) throws(ImageDecodingError) {
        let largest = layout.frames.lazy.map(\.area.size).max { $0.pixelCount < $1.pixelCount } ?? layout.canvas
        let byteCount = [layout.canvas, layout.canvas, largest].reduce(0) { sum, size in
            sum.addingClamped(PixelBuffer.byteCount(size: size, format: .rgba8) ?? .max)
        }
        guard byteCount <= maximumByteCount else {
            throw ImageDecodingError(
                .exceedsLimit,
                "the animation of \(layout.canvas) pixels needs \(byteCount.byteCountText); the limit is "
                    + "\(maximumByteCount.byteCountText) (DecodingLimits.maximumByteCount)")
        }
        let canvas = layout.canvas.pixelCount
        try check(totalPixelCount: layout.frames.lazy.map { max(canvas, $0.area.size.pixelCount) }, layout.frames.count)
    }

    /// Checks the number of pixels in all frames of an animation whose frames have the size of the canvas. Throws
    /// ``ImageDecodingError`` `exceedsLimit` when there are too many.
    package func check(frameCount: Int, of size: PixelSize) throws(ImageDecodingError) {
        try check(totalPixelCount: repeatElement(size.pixelCount, count: frameCount), frameCount)
    }

    private func check(
        totalPixelCount counts: some Sequence<Int>, _ frameCount: Int
    ) throws(ImageDecodingError) {
        // `Int.max` stands for no limit, and the sum may exceed it.
        guard maximumTotalPixelCount < .max else { return }
        var rest = maximumTotalPixelCount
        for count in counts {
            let (left, overflow) = rest.subtractingReportingOverflow(count)
            guard !overflow, left >= 0 else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "the \(frameCount) frames of the animation exceed the limit of \(maximumTotalPixelCount) pixels "
                        + "in all (DecodingLimits.maximumTotalPixelCount)")
            }
            rest = left
        }
    }

    /// The longest side of an image whose rows take up little memory.
    private static let ordinarySide = 1_000_000
    /// The number of bytes for each pixel of a row that the decoder, the conversion and the reduction of rows hold.
    private static let rowBytesPerPixel = 40

    /// Checks the size of a frame in a pixel format.
    ///
    /// A side of more than a million pixels also counts with 40 bytes a pixel, because that is what decoding and
    /// reducing an image row by row holds.
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
        let longest = max(size.width, size.height)
        if longest > Self.ordinarySide, longest > maximumByteCount / Self.rowBytesPerPixel {
            throw ImageDecodingError(
                .exceedsLimit,
                "\(size) pixels: the rows need \(Self.rowBytesPerPixel) bytes a pixel while they are processed; "
                    + "the limit is \(maximumByteCount.byteCountText) (DecodingLimits.maximumByteCount)")
        }
        let byteCount = PixelBuffer.byteCount(size: size, format: format)
        if let byteCount, byteCount <= maximumByteCount { return }
        // The count is nil if it overflows.
        let needed = byteCount?.byteCountText ?? "more than \(Int.max.byteCountText)"
        throw ImageDecodingError(
            .exceedsLimit,
            "\(size) pixels need \(needed) with row padding; the limit is \(maximumByteCount.byteCountText) "
                + "(DecodingLimits.maximumByteCount)")
    }
}
