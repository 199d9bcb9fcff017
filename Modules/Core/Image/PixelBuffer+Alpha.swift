extension PixelBuffer {
    /// The picture with colour multiplied by alpha, rounded to nearest. O(*w* × *h*) for straight RGBA8; every other
    /// buffer comes back as it is.
    public func premultiplied() -> PixelBuffer {
        converted(from: .straight, to: .premultiplied) { color, alpha in (color * alpha + 127) / 255 }
    }

    /// The picture with colour divided by alpha, rounded to nearest; colour under alpha 0 becomes black. O(*w* × *h*)
    /// for premultiplied RGBA8; every other buffer comes back as it is.
    public func unpremultiplied() -> PixelBuffer {
        converted(from: .premultiplied, to: .straight) { Self.straight($0, alpha: $1) }
    }

    /// A premultiplied 8-bit sample divided by its alpha, rounded to nearest.
    static func straight(_ color: UInt32, alpha: UInt32) -> UInt32 {
        alpha == 0 ? 0 : min(255, (color * 255 + alpha / 2) / alpha)
    }

    private func converted(
        from old: AlphaMode, to new: AlphaMode, _ convert: (_ color: UInt32, _ alpha: UInt32) -> UInt32
    ) -> PixelBuffer {
        guard format == .rgba8, alphaMode == old else { return self }
        var result = relabelled(new)
        let rowBytes = usedBytesPerRow
        let stride = bytesPerRow
        let rows = height
        result.withUnsafeMutableBytes { memory in
            for y in 0..<rows {
                var pixel = y * stride
                let end = pixel + rowBytes
                while pixel < end {
                    let alpha = UInt32(memory[pixel + 3])
                    if alpha != 255 {
                        for channel in pixel..<pixel + 3 {
                            memory[channel] = UInt8(truncatingIfNeeded: convert(UInt32(memory[channel]), alpha))
                        }
                    }
                    pixel += 4
                }
            }
        }
        return result
    }
}
