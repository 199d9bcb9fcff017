/// The relation of color samples to alpha.
public enum AlphaMode: String, Sendable, Hashable {
    /// Every pixel is opaque. An alpha sample, if the format has one, is at its maximum.
    case opaque
    /// Color is independent of alpha, as in files.
    case straight
    /// Color is multiplied by alpha, as filters and compositors require.
    case premultiplied
}

extension PixelBuffer {
    /// Returns the image in another alpha mode, with samples rounded to nearest.
    ///
    /// Opaque images, images that are in the mode already, and images in a format without alpha are returned unchanged.
    /// O(*w* × *h*) for all others, which are copied. Traps when the memory for the copy cannot be allocated.
    ///
    /// - Parameter mode: The alpha mode. With `premultiplied`, color is multiplied by alpha. With `straight`, it is
    ///   divided by alpha, and color with alpha 0 becomes black. With `opaque`, the image is returned unchanged: to
    ///   draw it on a background, use the processor `.flatten`.
    public func converted(to mode: AlphaMode) -> PixelBuffer {
        switch (alphaMode, mode) {
        case (.straight, .premultiplied): converted(to: mode, AlphaArithmetic.premultiply)
        case (.premultiplied, .straight): converted(to: mode, AlphaArithmetic.unpremultiply)
        default: self
        }
    }

    private func converted(
        to mode: AlphaMode, _ convert: (UnsafeMutableRawBufferPointer, PixelFormat) -> Void
    ) -> PixelBuffer {
        guard format.hasAlpha else { return self }
        var result = reinterpreted(as: mode)
        let (used, stride, rows, format) = (usedBytesPerRow, bytesPerRow, height, format)
        result.withUnsafeMutableBytes { memory in
            for y in 0..<rows {
                convert(UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<y * stride + used]), format)
            }
        }
        return result
    }
}

/// In-place conversion between straight and premultiplied alpha, for rows of pixels with 8-bit or 16-bit samples.
package enum AlphaArithmetic {
    /// Multiplies color by alpha, rounding to nearest. Leaves rows of formats without alpha unchanged.
    package static func premultiply(_ row: UnsafeMutableRawBufferPointer, _ format: PixelFormat) {
        switch format {
        case .rgba8: change(row.assumingMemoryBound(to: UInt8.self)) { ($0 * $1 + 127) / 255 }
        case .rgba16: change(row.assumingMemoryBound(to: UInt16.self)) { ($0 * $1 + 32_767) / 65_535 }
        case .rgbx8, .gray8, .gray16: break
        }
    }

    /// Divides color by alpha, rounding to nearest. Color with alpha 0 becomes black. Leaves rows of formats without
    /// alpha unchanged.
    package static func unpremultiply(_ row: UnsafeMutableRawBufferPointer, _ format: PixelFormat) {
        switch format {
        case .rgba8: change(row.assumingMemoryBound(to: UInt8.self)) { straight($0, $1, maximum: 255) }
        case .rgba16: change(row.assumingMemoryBound(to: UInt16.self)) { straight($0, $1, maximum: 65_535) }
        case .rgbx8, .gray8, .gray16: break
        }
    }

    @inline(__always)
    private static func straight(_ color: UInt32, _ alpha: UInt32, maximum: UInt32) -> UInt32 {
        guard alpha > 0 else { return 0 }
        return UInt32(
            truncatingIfNeeded: min(
                UInt64(maximum), (UInt64(color) * UInt64(maximum) + UInt64(alpha / 2)) / UInt64(alpha)))
    }

    @inline(__always)
    private static func change<Sample: FixedWidthInteger & UnsignedInteger>(
        _ samples: UnsafeMutableBufferPointer<Sample>, _ convert: (_ color: UInt32, _ alpha: UInt32) -> UInt32
    ) {
        for pixel in stride(from: 0, to: samples.count, by: 4) {
            let alpha = samples[pixel + 3]
            guard alpha != .max else { continue }
            for channel in pixel..<pixel + 3 {
                samples[channel] = Sample(truncatingIfNeeded: convert(UInt32(samples[channel]), UInt32(alpha)))
            }
        }
    }
}
