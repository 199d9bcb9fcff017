extension PixelBuffer {
    /// The picture averaged down; itself when there is nothing to do. O(*w* × *h*).
    package func reduced(by reduction: BoxReduction) throws(ImageDecodingError) -> PixelBuffer {
        guard reduction.factor > 1 else { return self }
        let collector = PixelRowCollector()
        do {
            try DecodedImage(pixels: self).sendRows(to: BoxReducer(reduction, next: collector))
        } catch {
            throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "\(error)")
        }
        guard let image = collector.image else { throw ImageDecodingError(.corrupt, "no picture was made") }
        return image.pixels
    }
}
