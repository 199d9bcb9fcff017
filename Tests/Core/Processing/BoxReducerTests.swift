import AlcedoCore
import TestSupport
import Testing

/// Compared with plain averages in floating point.
@Suite struct BoxReducerTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let format: PixelFormat
        let mode: AlphaMode
        var testDescription: String { "\(format) \(mode)" }
    }

    static let shapes = [
        Shape(format: .gray8, mode: .opaque), Shape(format: .rgbx8, mode: .opaque),
        Shape(format: .rgba8, mode: .opaque), Shape(format: .rgba8, mode: .straight),
        Shape(format: .rgba8, mode: .premultiplied), Shape(format: .rgba16, mode: .opaque),
        Shape(format: .rgba16, mode: .straight), Shape(format: .rgba16, mode: .premultiplied),
        Shape(format: .gray16, mode: .opaque),
    ]

    private func reduction(_ size: PixelSize, factor: Int) -> BoxReduction {
        let target = PixelSize(width: max(1, size.width / factor), height: max(1, size.height / factor))
        return BoxReduction(from: size, towards: TargetSize(target, mode: .fill))
    }

    private func noise(_ size: PixelSize, _ shape: Shape, seed: UInt64) throws -> PixelBuffer {
        var generator = SeededGenerator(seed: seed)
        let maximum: UInt16 = shape.format.isDeep ? .max : 255
        let pixels = PixelBuffer(size: size, format: shape.format, alphaMode: shape.mode) { memory, stride in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let alpha: UInt16 =
                        shape.mode == .opaque
                        ? maximum
                        : [0, maximum, .random(in: 0...maximum, using: &generator)].randomElement(
                            using: &generator) ?? 0
                    let most = shape.mode == .premultiplied ? alpha : maximum
                    var pixel = SIMD4<UInt16>(repeating: alpha)
                    for channel in 0..<3 { pixel[channel] = .random(in: 0...most, using: &generator) }
                    let offset = y * stride + x * shape.format.bytesPerPixel
                    switch shape.format {
                    case .gray8: memory[offset] = UInt8(pixel.x)
                    case .rgba8, .rgbx8:
                        memory.storeBytes(
                            of: SIMD4<UInt8>(truncatingIfNeeded: pixel), toByteOffset: offset, as: SIMD4<UInt8>.self)
                    case .gray16: memory.storeBytes(of: pixel.x, toByteOffset: offset, as: UInt16.self)
                    case .rgba16: memory.storeBytes(of: pixel, toByteOffset: offset, as: SIMD4<UInt16>.self)
                    }
                }
            }
        }
        return try #require(pixels)
    }

    /// Returns the samples of a pixel, one for gray.
    private func samples(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> [Double] {
        pixels.withUnsafeBytes { memory in
            let offset = y * pixels.bytesPerRow + x * pixels.format.bytesPerPixel
            switch pixels.format {
            case .gray8: return [Double(memory[offset])]
            case .rgba8, .rgbx8: return (0..<4).map { Double(memory[offset + $0]) }
            case .gray16: return [Double(memory.load(fromByteOffset: offset, as: UInt16.self))]
            case .rgba16:
                return (0..<4).map { Double(memory.load(fromByteOffset: offset + 2 * $0, as: UInt16.self)) }
            }
        }
    }

    private func average(_ pixels: PixelBuffer, _ x: Int, _ y: Int, _ factor: Int) -> [Double] {
        var sums = [Double](repeating: 0, count: pixels.format.isGray ? 1 : 4)
        var count = 0.0
        let isStraight = pixels.alphaMode == .straight && sums.count == 4
        for row in y * factor..<min(pixels.height, (y + 1) * factor) {
            for column in x * factor..<min(pixels.width, (x + 1) * factor) {
                let values = samples(pixels, column, row)
                for channel in sums.indices {
                    sums[channel] += isStraight && channel < 3 ? values[channel] * values[3] : values[channel]
                }
                count += 1
            }
        }
        return sums.indices.map { channel in
            let divisor = isStraight && channel < 3 ? sums[3] : count
            return divisor == 0 ? 0 : sums[channel] / divisor
        }
    }

    @Test(arguments: shapes) func `cells are averages weighted by alpha and rounded to nearest`(shape: Shape) throws {
        for (index, (width, height, factor)) in [(8, 6, 2), (11, 7, 3), (23, 9, 4), (5, 41, 5), (61, 61, 30)]
            .enumerated()
        {
            let size = PixelSize(width: width, height: height)
            let pixels = try noise(size, shape, seed: UInt64(index))
            let reduction = reduction(size, factor: factor)
            #expect(reduction.factor == factor)

            let reduced = try pixels.reduced(by: reduction)

            #expect(reduced.size == PixelSize(width: (width - 1) / factor + 1, height: (height - 1) / factor + 1))
            #expect(reduced.format == shape.format)
            #expect(reduced.alphaMode == shape.mode)
            for y in 0..<reduced.height {
                for x in 0..<reduced.width {
                    let expected = average(pixels, x, y, factor)
                    for (sample, value) in zip(samples(reduced, x, y), expected) {
                        #expect(abs(sample - value) <= 0.5 + 1e-6, "\(size) at \(x), \(y)")
                    }
                }
            }
        }
    }

    @Test func `the sums of a row of the largest cells do not overflow`() throws {
        let side = BoxReduction.maximumFactor
        let reduction = BoxReduction(
            from: PixelSize(width: side + 3, height: side), towards: TargetSize(width: 1, height: 1))
        #expect(reduction.factor == side)
        for shape in [Shape(format: .rgba8, mode: .straight), Shape(format: .rgba16, mode: .straight)] {
            var header = PixelRowHeader(
                size: PixelSize(width: side + 3, height: 3), format: shape.format, alphaMode: shape.mode)
            let collector = PixelRowCollector()
            let reducer = BoxReducer(reduction, next: collector)
            let row = [UInt8](repeating: 255, count: header.bytesPerRow)

            try reducer.begin(header)
            for _ in 0..<3 { try reducer.consume(row.span.bytes) }
            try reducer.finish()

            header.reduction = reduction.position(in: header.size)
            header.size = PixelSize(width: 2, height: 1)
            let image = try #require(collector.image)
            #expect(image.rowHeader == header)
            #expect(image.pixels.tightBytes.allSatisfy { $0 == 255 })
        }
    }

    @Test func `a reduction by one passes rows on unchanged`() throws {
        let size = PixelSize(width: 7, height: 5)
        for shape in Self.shapes {
            let pixels = try noise(size, shape, seed: 3)
            let collector = PixelRowCollector()
            let none = BoxReduction(from: size, towards: nil)
            #expect(none.factor == 1)
            try DecodedImage(pixels: pixels).sendRows(to: BoxReducer(none, next: collector))
            #expect(collector.image?.pixels == pixels)
        }
    }
}
