import AlcedoCore

/// Makes rows that JPEG can hold: four bytes a pixel, of which the last does not count, without transparency.
struct JPEGRowFlattener {
    private var straight: StraightRow
    private let background: SIMD4<UInt32>

    /// nil when the rows are fit as they are.
    init?(_ header: PixelRowHeader, background: OpaqueColor) {
        switch header.format {
        case .gray8, .rgbx8: return nil
        case .rgba8 where header.alphaMode == .opaque: return nil
        case .rgba8, .rgba16: break
        }
        straight = StraightRow(header)
        self.background = SIMD4(UInt32(background.red), UInt32(background.green), UInt32(background.blue), 255)
    }

    /// The row over the background, rounded to nearest.
    mutating func flattened(_ row: UnsafeRawBufferPointer) -> [UInt8] {
        var pixels = straight.convert(RawSpan(_unsafeBytes: row))
        pixels.withUnsafeMutableBytes { pixels in
            for offset in stride(from: 0, to: pixels.count, by: 4) {
                let pixel = SIMD4<UInt32>(
                    truncatingIfNeeded: pixels.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self))
                guard pixel.w != 255 else { continue }
                let sum = pixel &* pixel.w &+ background &* (255 &- pixel.w) &+ 127
                pixels.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: sum / SIMD4(repeating: 255)), toByteOffset: offset,
                    as: SIMD4<UInt8>.self)
            }
        }
        return pixels
    }
}
