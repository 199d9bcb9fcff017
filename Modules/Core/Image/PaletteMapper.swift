/// A mapper from pixels to the nearest colors of a palette, row by row.
///
/// Colors are compared with alpha multiplied in. Opaque pixels are mapped to opaque colors if there are any, and fully
/// transparent ones to transparent black if the palette has it.
///
/// Dithering diffuses errors with the weights of Floyd and Steinberg, with alternating direction. Fully transparent
/// pixels neither receive nor pass errors. Source: R. Floyd, L. Steinberg, "An adaptive algorithm for spatial grey
/// scale", 1976.
package struct PaletteMapper {
    /// The colors of the palette, with alpha multiplied in.
    private let colors: [SIMD4<Int32>]
    private let transparentIndex: UInt8?
    private var opaque: NearestColors
    private var all: NearestColors
    /// The index in the palette of each color of `opaque`.
    private let opaqueIndices: [UInt8]
    /// The last color of each hash, which is multiplied by alpha, and its index.
    private var found = [UInt64](repeating: .max, count: 1 << 15)
    private let dithers: Bool
    /// The errors of this row and the next in sixteenths, with one extra column at each end.
    private var errors: [SIMD4<Int32>]
    private var nextErrors: [SIMD4<Int32>]
    private var isReversed = false

    /// Creates a mapper.
    ///
    /// - Parameters:
    ///   - palette: 1 to 256 colors, each with the bytes of a straight pixel in memory order.
    ///   - width: The number of pixels in each row.
    ///   - dithers: Whether errors are diffused to adjacent pixels.
    package init(_ palette: [UInt32], width: Int, dithers: Bool) {
        let colors = palette.map { Self.samples(of: UInt32(littleEndian: $0).multipliedByAlpha) }
        let opaqueIndices = colors.indices.filter { colors[$0].w == 255 }
        opaque = NearestColors(opaqueIndices.map { Self.point(colors[$0]) }, areOpaque: true)
        all = NearestColors(colors.map(Self.point), areOpaque: false)
        self.opaqueIndices = opaqueIndices.map { UInt8(truncatingIfNeeded: $0) }
        self.colors = colors
        transparentIndex = palette.firstIndex(of: 0).map { UInt8(truncatingIfNeeded: $0) }
        self.dithers = dithers
        errors = Array(repeating: .zero, count: dithers ? width + 2 : 0)
        nextErrors = errors
    }

    /// Appends the indices of the pixels of a row in straight or opaque RGBA8.
    package mutating func append(_ row: RawSpan, to indices: inout [UInt8]) {
        let (start, count) = (indices.count, row.byteCount / 4)
        indices.append(contentsOf: repeatElement(transparentIndex ?? 0, count: count))
        var last: (pixel: UInt32, index: UInt8)?
        for step in 0..<count {
            let x = isReversed ? count &- 1 &- step : step
            let pixel = UInt32(littleEndian: row.unsafeLoadUnaligned(fromByteOffset: 4 &* x, as: UInt32.self))
            guard pixel &>> 24 != 0 || transparentIndex == nil else { continue }
            if dithers {
                indices[start &+ x] = dithered(pixel.multipliedByAlpha, at: x)
            } else {
                if last?.pixel != pixel { last = (pixel, index(of: pixel.multipliedByAlpha)) }
                indices[start &+ x] = last?.index ?? 0
            }
        }
        guard dithers else { return }
        swap(&errors, &nextErrors)
        for x in nextErrors.indices { nextErrors[x] = .zero }
        isReversed.toggle()
    }

    private mutating func dithered(_ pixel: UInt32, at x: Int) -> UInt8 {
        let column = x &+ 1
        let sum = Self.samples(of: pixel) &+ ((errors[column] &+ SIMD4(repeating: 8)) &>> SIMD4(repeating: 4))
        let alpha = pixel &>> 24 == 255 ? 255 : min(254, max(0, sum.w))
        // No sample that is multiplied by alpha exceeds it.
        var color = sum.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: alpha))
        color.w = alpha
        let low = UInt32(bitPattern: color.x | color.y &<< 8 | color.z &<< 16 | color.w &<< 24)
        let index = index(of: low)
        let error = color &- colors[Int(index)]
        let ahead = isReversed ? -1 : 1
        errors[column &+ ahead] &+= error &* SIMD4(repeating: 7)
        nextErrors[column &- ahead] &+= error &* SIMD4(repeating: 3)
        nextErrors[column] &+= error &* SIMD4(repeating: 5)
        nextErrors[column &+ ahead] &+= error
        return index
    }

    /// Returns the index of the color nearest to a color that is multiplied by alpha.
    private mutating func index(of color: UInt32) -> UInt8 {
        let slot = Int((color &* 0x9E37_79B1) &>> 17)
        if UInt32(truncatingIfNeeded: found[slot]) == color, found[slot] != .max {
            return UInt8(truncatingIfNeeded: found[slot] &>> 32)
        }
        let samples = Self.samples(of: color)
        let point = Self.point(samples)
        let index =
            samples.w == 255 && !opaqueIndices.isEmpty
            ? opaqueIndices[opaque.index(of: point)] : UInt8(truncatingIfNeeded: all.index(of: point))
        found[slot] = UInt64(index) &<< 32 | UInt64(color)
        return index
    }

    private static func point(_ samples: SIMD4<Int32>) -> SIMD4<Float> {
        SIMD4(Float(samples.x), Float(samples.y), Float(samples.z), Float(samples.w))
    }

    private static func samples(of pixel: UInt32) -> SIMD4<Int32> {
        let word = Int32(bitPattern: pixel)
        return SIMD4(word & 255, word &>> 8 & 255, word &>> 16 & 255, word &>> 24 & 255)
    }
}
