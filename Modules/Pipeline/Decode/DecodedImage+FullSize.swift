import AlcedoCore

extension DecodedImage {
    /// Notes the size that the image has when it is not decoded smaller, for the first processor.
    ///
    /// Notes nothing where the image is not smaller, and where the decoder gives it other proportions than the file has:
    /// the processor then goes by the size of the image.
    ///
    /// - Parameter info: The decoder's description of the file; nil when there is none.
    mutating func noteFullSize(_ info: ImageInfo?) {
        guard let info else { return }
        let isTurned = orientation == .up && info.orientation.swapsSides
        let full = isTurned ? info.size.transposed : info.size
        guard full.isPositive, full != size, full.width >= size.width, full.height >= size.height else { return }
        let horizontal = Double(size.width) / Double(full.width)
        let vertical = Double(size.height) / Double(full.height)
        // Decoders round each side to whole pixels.
        guard abs(horizontal - vertical) <= 1 / Double(min(full.width, full.height)) else { return }
        fullSize = full
    }
}
