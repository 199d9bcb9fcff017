import AlcedoCore

extension Resampler {
    /// The whole picture in the new size; nil when there is no such buffer.
    static func resample(_ pixels: PixelBuffer, to size: PixelSize, _ sampling: ResizeSampling) -> PixelBuffer? {
        var resampler = Resampler(
            from: pixels.size, to: size, format: pixels.format, alphaMode: pixels.alphaMode, sampling: sampling)
        return pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard var from = source.baseAddress, var to = memory.baseAddress else { return }
                // All rows of a cell at once: their sums stay in registers.
                while true {
                    let count = resampler.rowsWanted
                    guard count > 0 else { return }
                    resampler.push(from, count: count, bytesPerRow: pixels.bytesPerRow)
                    from += count * pixels.bytesPerRow
                    while resampler.pull(into: to) { to += bytesPerRow }
                }
            }
        }
    }
}
