extension PixelBuffer {
    /// The upright picture of rows that were stored in `orientation`. O(*w* × *h*); a second buffer is made unless the
    /// picture is upright already. Rows are padded: of a picture that is far wider than high one that lies on its side takes
    /// many times the memory.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory`.
    public func upright(from orientation: ImageOrientation) throws(ImageDecodingError) -> PixelBuffer {
        guard orientation != .up else { return self }
        let stored = size
        let target = orientation.swapsSides ? stored.transposed : stored
        let pixelBytes = format.bytesPerPixel
        let sourceStride = bytesPerRow
        let result = withUnsafeBytes { source in
            PixelBuffer(size: target, format: format, alphaMode: alphaMode) { memory, stride in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                // The source position depends on x and y linearly, so three of them give both steps.
                let origin = orientation.source(x: 0, y: 0, in: stored)
                let right = orientation.source(x: 1, y: 0, in: stored)
                let below = orientation.source(x: 0, y: 1, in: stored)
                let offset = { (place: (x: Int, y: Int)) in place.y * sourceStride + place.x * pixelBytes }
                let walk = TileWalk(
                    size: target, stride: stride, across: offset(right) - offset(origin),
                    down: offset(below) - offset(origin))
                let start = from + offset(origin)
                switch pixelBytes {
                case 1: walk.copy(UInt8.self, from: start, to: to)
                case 4: walk.copy(UInt32.self, from: start, to: to)
                default: walk.copy(UInt64.self, from: start, to: to)
                }
            }
        }
        guard let result else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(target) pixels") }
        return result
    }
}
