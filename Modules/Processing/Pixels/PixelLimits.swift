import AlcedoCore

/// The maximum size of results whose size depends on parameters, so that no parameter exhausts the memory.
enum PixelLimits {
    static let maximumPixelCount = 1 << 28
    static let maximumSide = 1 << 16
    static let maximumOrientedByteCount = 4 * maximumPixelCount

    /// Checks the size of a result.
    ///
    /// - Throws: `tooLarge` for a result that exceeds the limits and is larger than its source.
    static func check(_ size: PixelSize, from source: PixelSize) throws(ImageProcessingError) {
        guard size != source else { return }
        guard size.pixelCount <= max(maximumPixelCount, source.pixelCount),
            size.width <= max(maximumSide, source.width), size.height <= max(maximumSide, source.height)
        else {
            throw ImageProcessingError(
                .tooLarge,
                "a result of \(size) pixels exceeds the limit of \(maximumPixelCount) pixels, or \(maximumSide) a side")
        }
    }

    /// Returns the error for a size for which no buffer can be created.
    static func noBuffer(for size: PixelSize) -> ImageProcessingError {
        ImageProcessingError(.tooLarge, "cannot allocate \(size) pixels: the image is too large")
    }

    /// Checks that a buffer could hold the rows, which bounds the memory of one row.
    ///
    /// - Throws: `tooLarge` for rows that do not fit in a buffer.
    static func checkRows(of header: PixelRowHeader) throws(ImageProcessingError) {
        // The check uses the widest format, because a processor may forward another format than it receives.
        guard PixelBuffer.byteCount(size: header.size, format: .rgba16) != nil else {
            throw ImageProcessingError(
                .tooLarge, "cannot allocate rows for \(header.size) pixels: the image is too large")
        }
    }

    /// The maximum number of bytes of the rows in flight of a blur or another filter of neighborhoods: 1 GiB.
    static let maximumNeighborhoodByteCount = 1 << 30

    /// The maximum number of bytes of the weights and rows of a filter. A resize from 65,536 x 65,536 to 320 x 320
    /// pixels needs a hundredth of it.
    static let maximumFilterByteCount = 256 << 20

    /// Checks the memory of a resize, which depends on the sides and not on the number of pixels.
    ///
    /// - Throws: `tooLarge` when the weights and rows exceed ``maximumFilterByteCount``.
    static func checkFilter(of source: PixelSize, byteCount: Double) throws(ImageProcessingError) {
        guard byteCount <= Double(maximumFilterByteCount) else {
            throw ImageProcessingError(
                .tooLarge, "cannot resize \(source) pixels: the filter needs more than \(maximumFilterByteCount) bytes")
        }
    }
}
