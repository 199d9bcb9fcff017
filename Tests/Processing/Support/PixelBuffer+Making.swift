import AlcedoCore
import Testing

extension PixelBuffer {
    /// Returns a buffer whose pixel at (x, y) has the samples of `pixel`. Gray formats use the first.
    static func make(
        _ width: Int, _ height: Int, _ format: PixelFormat = .rgba8, _ alphaMode: AlphaMode,
        _ pixel: (_ x: Int, _ y: Int) -> SIMD4<UInt16>
    ) -> PixelBuffer {
        let size = PixelSize(width: width, height: height)
        let buffer = PixelBuffer(size: size, format: format, alphaMode: alphaMode) { memory, stride in
            for y in 0..<height {
                for x in 0..<width {
                    let value = pixel(x, y)
                    let offset = y * stride + x * format.bytesPerPixel
                    switch format {
                    case .gray8: memory[offset] = UInt8(value.x)
                    case .gray16: memory.storeBytes(of: value.x, at: offset)
                    case .rgba8, .rgbx8: memory.storeBytes(of: SIMD4<UInt8>(truncatingIfNeeded: value), at: offset)
                    case .rgba16: memory.storeBytes(of: value, at: offset)
                    }
                }
            }
        }
        guard let buffer else { fatalError("the test asks for a buffer without pixels") }
        return buffer
    }

    /// Returns the image from which the fixtures were made.
    static func pattern(_ format: PixelFormat) -> PixelBuffer {
        let opaque = format != .rgba8
        return make(23, 17, format, opaque ? .opaque : .straight) { x, y in
            let red = 64 + ((x * 7 + y * 3) & 127)
            let green = 64 + ((x * x + y * 5) & 127)
            let blue = 64 + (((x ^ y) * 9) & 127)
            let alpha = opaque ? 255 : 128 + ((x * 11 + y * 13) & 63)
            let samples = format == .gray8 ? [green, green, green, 255] : [red, green, blue, alpha]
            return SIMD4(samples.map { UInt16($0) })
        }
    }

    /// Returns noise that depends only on the seed. The last sample is the maximum unless the buffer is straight, and
    /// samples of a premultiplied buffer are at most alpha.
    static func noise(
        _ width: Int, _ height: Int, _ format: PixelFormat, _ alphaMode: AlphaMode, seed: UInt64
    ) -> PixelBuffer {
        var generator = XorShift(state: seed)
        let maximum: UInt16 = format.isDeep ? .max : 255
        return make(width, height, format, alphaMode) { _, _ in
            var value = SIMD4<UInt16>(repeating: 0)
            value.w = alphaMode == .opaque ? maximum : .random(in: 0...maximum, using: &generator)
            let most = alphaMode == .premultiplied ? value.w : maximum
            for channel in 0..<3 { value[channel] = .random(in: 0...most, using: &generator) }
            return value
        }
    }

    /// Returns the samples of the pixel at (x, y). Gray formats return their sample three times and the
    /// maximum.
    func pixel(_ x: Int, _ y: Int) -> SIMD4<UInt16> {
        withUnsafeBytes { memory in
            let offset = y * bytesPerRow + x * format.bytesPerPixel
            switch format {
            case .gray8:
                let value = UInt16(memory[offset])
                return SIMD4(value, value, value, 255)
            case .gray16:
                let value = memory.load(fromByteOffset: offset, as: UInt16.self)
                return SIMD4(value, value, value, .max)
            case .rgba8, .rgbx8:
                let value = memory.load(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                return SIMD4(truncatingIfNeeded: value)
            case .rgba16: return memory.load(fromByteOffset: offset, as: SIMD4<UInt16>.self)
            }
        }
    }

    var positions: [(x: Int, y: Int)] {
        (0..<height).flatMap { y in (0..<width).map { (x: $0, y: y) } }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func storeBytes<Value: BitwiseCopyable>(of value: Value, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }
}

/// Pseudorandom numbers. Source: Marsaglia, "Xorshift RNGs", J. Stat. Softw. 8 (2003).
struct XorShift: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        // The low bits alone have poor randomness.
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

extension PixelBuffer {
    /// Returns the image with every pixel changed.
    func changed(
        to mode: AlphaMode, _ change: (_ x: Int, _ y: Int, _ pixel: SIMD4<UInt16>) -> SIMD4<UInt16>
    ) -> PixelBuffer {
        .make(width, height, format, mode) { change($0, $1, pixel($0, $1)) }
    }

    /// Returns the largest difference of two samples, or `Int.max` for different kinds of images.
    func largestDifference(to other: PixelBuffer) -> Int {
        guard size == other.size, format == other.format, alphaMode == other.alphaMode else { return .max }
        return positions.reduce(0) { largest, place in
            let (a, b) = (pixel(place.x, place.y), other.pixel(place.x, place.y))
            return (0..<4).reduce(largest) { max($0, abs(Int(a[$1]) - Int(b[$1]))) }
        }
    }
}
