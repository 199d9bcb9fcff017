/// How the samples of a pixel lie in memory.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
    /// Four bytes: red, green, blue, alpha.
    case rgba8
    /// Four bytes: red, green, blue, and one that is always 255. An opaque image.
    case rgbx8
    /// One byte of luminance. An opaque image.
    case gray8
    /// Four 16-bit samples in the machine's byte order: red, green, blue, alpha.
    case rgba16

    /// Bytes that one pixel occupies.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgbx8: 4
        case .gray8: 1
        case .rgba16: 8
        }
    }
}

/// How colour samples relate to alpha.
public enum AlphaMode: String, Sendable, Hashable {
    /// Every pixel is opaque; an alpha sample, where there is one, is at its maximum.
    case opaque
    /// Colour is independent of alpha, as files store it.
    case straight
    /// Colour is multiplied by alpha, as filters and compositors want it.
    case premultiplied
}

/// Multiplying and dividing colour by alpha, in place, for rows of pixels with alpha of either depth.
package enum AlphaArithmetic {
    /// Multiplies, rounding to nearest. Rows of formats without alpha stay as they are.
    package static func premultiply(_ row: UnsafeMutableRawBufferPointer, _ format: PixelFormat) {
        switch format {
        case .rgba8: change(row.assumingMemoryBound(to: UInt8.self)) { ($0 * $1 + 127) / 255 }
        case .rgba16: change(row.assumingMemoryBound(to: UInt16.self)) { ($0 * $1 + 32_767) / 65_535 }
        case .rgbx8, .gray8: break
        }
    }

    /// Divides, rounding to nearest; colour under alpha 0 becomes black.
    package static func unpremultiply(_ row: UnsafeMutableRawBufferPointer, _ format: PixelFormat) {
        switch format {
        case .rgba8: change(row.assumingMemoryBound(to: UInt8.self)) { straight($0, $1, maximum: 255) }
        case .rgba16: change(row.assumingMemoryBound(to: UInt16.self)) { straight($0, $1, maximum: 65_535) }
        case .rgbx8, .gray8: break
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
