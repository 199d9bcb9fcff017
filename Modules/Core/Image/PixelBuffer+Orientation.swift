extension PixelBuffer {
    /// The upright picture of rows that were stored in `orientation`. O(*w* × *h*); a second buffer is made unless the
    /// picture is upright already.
    public func upright(from orientation: ImageOrientation) -> PixelBuffer {
        guard orientation != .up else { return self }
        let stored = size
        let target = orientation.swapsSides ? stored.transposed : stored
        let pixelBytes = format.bytesPerPixel
        let sourceStride = bytesPerRow
        let result = withUnsafeBytes { source in
            PixelBuffer(size: target, format: format, alphaMode: alphaMode) { memory, stride in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                for y in 0..<target.height {
                    // The source positions of a row lie on a line, so two of them give the step between pixels.
                    let first = orientation.source(x: 0, y: y, in: stored)
                    let second = orientation.source(x: 1, y: y, in: stored)
                    let step = (second.y - first.y) * sourceStride + (second.x - first.x) * pixelBytes
                    var offset = first.y * sourceStride + first.x * pixelBytes
                    var out = to + y * stride
                    for _ in 0..<target.width {
                        out.copyMemory(from: from + offset, byteCount: pixelBytes)
                        out += pixelBytes
                        offset += step
                    }
                }
            }
        }
        return result ?? self
    }
}
