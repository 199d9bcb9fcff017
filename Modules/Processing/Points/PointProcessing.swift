public import AlcedoCore

/// A processor whose every result pixel lies where the pixels it is made of lie: the picture keeps its size, and the
/// work is the same on a whole picture and on rows that arrive.
public protocol PointProcessing: ImageProcessing {
    /// The work on pictures of this kind; nil when their pixels stay as they are.
    ///
    /// - Throws: `invalidParameter` for parameters that make no sense.
    func work(on header: PixelRowHeader) throws(ImageProcessingError) -> PointWork?
}

extension PointProcessing {
    /// Works row by row into one new buffer; colour profile, scale and orientation are kept, of an animation the first
    /// frame remains.
    ///
    /// - Throws: What ``work(on:)`` throws; `tooLarge` when there is no memory for the result.
    public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let pixels = image.pixels
        guard let work = try work(on: image.rowHeader) else { return image.still(pixels) }
        let result = pixels.withUnsafeBytes { source in
            PixelBuffer(size: pixels.size, format: work.format, alphaMode: work.alphaMode) { memory, bytesPerRow in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                for y in 0..<pixels.height {
                    work.change(from + y * pixels.bytesPerRow, y, to + y * bytesPerRow)
                }
            }
        }
        guard let result else { throw ImageProcessingError(.tooLarge, "no buffer holds \(pixels.size) pixels") }
        return image.still(result)
    }

    /// Memory: two rows.
    public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { PointRows(work, next: next) }
}
