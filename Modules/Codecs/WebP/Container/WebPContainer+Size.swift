import AlcedoCore

extension WebPContainer {
    /// The size, as stored, of a still image that libwebp is to make for a target. The header must be complete.
    func size(for target: TargetSize?) -> PixelSize {
        let canvas = canvas ?? PixelSize(width: 1, height: 1)
        guard let target else { return canvas }
        let box = orientation.swapsSides ? target.size.transposed : target.size
        return canvas.scaled(to: box, mode: target.mode)
    }
}

extension WebPFrame {
    /// The most bytes that libwebp needs for itself while it decodes the frame.
    var workingByteCount: Int {
        let pixels = area.size.pixelCount
        // Rows of macroblocks with what is known of them, for two threads; measured, and rounded up.
        let rows = area.size.width * 256 + (512 << 10)
        if isLossless { return 4 * pixels + rows }
        return declaresAlpha ? 5 * pixels + rows : rows
    }
}
