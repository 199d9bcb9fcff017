import AlcedoCore

extension DecodedImage {
    /// A still picture of the rows made upright from `stored`.
    ///
    /// - Throws: `tooLarge` when the padding of its rows would take all memory, as of a line of pixels that is set upright.
    func turned(from stored: ImageOrientation) throws(ImageProcessingError) -> DecodedImage {
        let size = stored.swapsSides ? size.transposed : size
        let own = PixelBuffer.byteCount(size: self.size, format: pixels.format) ?? 0
        guard let byteCount = PixelBuffer.byteCount(size: size, format: pixels.format),
            byteCount <= max(PixelLimits.mostTurnedBytes, own)
        else { throw ImageProcessingError(.tooLarge, "a result of \(size) pixels is too large") }
        do {
            return still(try pixels.upright(from: stored))
        } catch {
            throw ImageProcessingError(.tooLarge, error.message)
        }
    }
}
