import AlcedoCore

/// How large a result may get whose size the parameters say, so that no parameter takes all memory.
enum PixelLimits {
    static let maximumPixelCount = 1 << 28
    static let maximumSide = 1 << 16
    static let maximumOrientedByteCount = 4 * maximumPixelCount

    /// - Throws: `tooLarge` for a result that exceeds the limits and is larger than its source.
    static func check(_ size: PixelSize, from source: PixelSize) throws(ImageProcessingError) {
        guard size != source else { return }
        guard size.pixelCount <= max(maximumPixelCount, source.pixelCount),
            size.width <= max(maximumSide, source.width), size.height <= max(maximumSide, source.height)
        else {
            throw ImageProcessingError(.tooLarge, "a result of \(size) pixels is too large")
        }
    }

    /// The error for a result of a size that no buffer has.
    static func noBuffer(for size: PixelSize) -> ImageProcessingError {
        ImageProcessingError(.tooLarge, "no buffer holds \(size) pixels")
    }

    /// - Throws: `tooLarge` for rows that no buffer can have, and so no memory for one.
    static func checkRows(of header: PixelRowHeader) throws(ImageProcessingError) {
        // The widest format: a processor may hand on another than it takes.
        guard PixelBuffer.byteCount(size: header.size, format: .rgba16) != nil else {
            throw ImageProcessingError(.tooLarge, "no buffer holds rows of \(header.size) pixels")
        }
    }
}

extension DecodedImage {
    /// The same picture with other pixels: profile, orientation, scale, format and damage stay, an animation does not,
    /// because its frames would no longer match.
    func still(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: colorProfile, orientation: orientation, scale: scale, format: format,
            partialError: partialError)
    }
}
