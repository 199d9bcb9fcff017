extension PixelBuffer {
    /// The picture with colour multiplied by alpha, rounded to nearest. O(*w* × *h*) for straight pixels with alpha;
    /// every other buffer comes back as it is.
    public func premultiplied() -> PixelBuffer {
        converted(from: .straight, to: .premultiplied, AlphaArithmetic.premultiply)
    }

    /// The picture with colour divided by alpha, rounded to nearest; colour under alpha 0 becomes black. O(*w* × *h*)
    /// for premultiplied pixels; every other buffer comes back as it is.
    public func unpremultiplied() -> PixelBuffer {
        converted(from: .premultiplied, to: .straight, AlphaArithmetic.unpremultiply)
    }

    private func converted(
        from old: AlphaMode, to new: AlphaMode, _ convert: (UnsafeMutableRawBufferPointer, PixelFormat) -> Void
    ) -> PixelBuffer {
        guard format == .rgba8 || format == .rgba16, alphaMode == old else { return self }
        var result = relabelled(new)
        let (used, stride, rows, format) = (usedBytesPerRow, bytesPerRow, height, format)
        result.withUnsafeMutableBytes { memory in
            for y in 0..<rows {
                convert(UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<y * stride + used]), format)
            }
        }
        return result
    }
}
