import AlcedoCore
import Testing

@testable import AlcedoProcessing

/// The C kernels, which have an implementation for each kind of processor, compared with one scalar computation.
@Suite struct KernelTests {
    @Test func `row sums equal the scalar ones exactly`() {
        for width in [1, 4, 5, 40] {
            let row = Float.Row(width: width, Self.plan(.rgba16))
            for count in [1, 2, 7, 61] {
                let rows = (0..<count).map { Self.floats(row.count, seed: UInt64($0 + 3)) }
                let weights = Self.floats(count, seed: 5)
                var result = [Float](repeating: 0, count: row.count)

                withPointers(to: rows) { Float.sum($0, weights, row, into: &result) }

                #expect(result == ScalarKernels.sumRows(rows, weights))
            }
        }
    }

    @Test func `convolution along a row equals the scalar one exactly`() {
        for (cells, length) in [(1, 1), (40, 7), (41, 13), (9, 30), (200, 3)] {
            let table = WeightTable<Float>(samples: cells, extent: Double(cells), length: length, filter: .lanczos3)
            let source = Float.Row(width: cells, Self.plan(.rgba16))
            let target = Float.Row(width: length, Self.plan(.rgba16))
            let row = Self.floats(source.count, seed: 7).map { $0 * 300 }
            var result = [Float](repeating: 0, count: target.count)

            withPlaces(in: &result, count: 1) { Float.filter(row, source, table, into: $0) }

            #expect(Array(result[..<(length * 4)]) == ScalarKernels.filterPixels(row, table, maximum: 65_535))
        }
    }

    @Test(arguments: [PixelFormat.gray8, .rgbx8, .rgba8])
    func `integer convolution along a row equals the scalar one exactly`(format: PixelFormat) {
        for (cells, length) in [(1, 1), (40, 7), (41, 13), (9, 30), (200, 3)] {
            let table = WeightTable<Int16>(
                samples: cells, extent: Double(cells), length: length, filter: .lanczos3, alignment: 2)
            let source = Int16.Row(width: cells, Self.plan(format))
            let target = Int16.Row(width: length, Self.plan(format))
            let group = Self.samples(source.groupCount, seed: 7)
            var result = [Int16](repeating: -1, count: target.count * Int16.rowCount)

            withPlaces(in: &result, count: Int16.rowCount) { Int16.filter(group, source, table, into: $0) }

            for row in 0..<Int16.rowCount {
                for channel in 0..<source.channels {
                    let place = (row * source.channels + channel) * 2
                    let samples = (0..<cells).map { group[$0 / 2 * 8 * source.channels + place + $0 % 2] }
                    let filtered = (0..<length).map { result[row * target.count + $0 * source.channels + channel] }
                    #expect(filtered == ScalarKernels.filterSamples(samples, table))
                }
            }
        }
    }

    @Test func `integer row sums equal the scalar ones exactly`() {
        let row = Int16.Row(width: 21, Self.plan(.rgbx8))
        for count in [1, 2, 7, 60] {
            let rows = (0..<count).map { Self.samples(row.count, seed: UInt64($0 + 3)) }
            let table = WeightTable<Int16>(samples: count, extent: Double(count), length: 1, filter: .lanczos3)
            var result = [Int16](repeating: -1, count: row.count)

            withPointers(to: rows) { Int16.sum($0, table.weights, row, into: &result) }

            #expect(result == ScalarKernels.sumSamples(rows, table.weights))
        }
    }

    @Test(arguments: [
        (1, 1.0, 1), (40, 40, 7), (9, 9, 30), (5_000, 5_000, 3), (100, 37.5, 12), (65_536, 65_536, 1),
    ])
    func `integer weights and their running sums are the floating-point ones, rounded`(
        samples: Int, extent: Double, length: Int
    ) {
        for filter in ResizeFilter.allCases {
            let table = WeightTable<Int16>(samples: samples, extent: extent, length: length, filter: filter)
            let exact = WeightTable<Float>(samples: samples, extent: extent, length: length, filter: filter)
            for index in 0..<length {
                let weights = table.weights[index * table.stride..<(index + 1) * table.stride].map(Int.init)
                #expect(weights.reduce(0, +) == 1 << 14)
                var difference: Float = 0
                for offset in 0..<table.count[index] {
                    difference += Float(weights[offset]) - exact.weights[index * exact.stride + offset] * 16_384
                    #expect(abs(difference) <= 0.6)
                }
            }
        }
    }

    @Test(arguments: [PixelFormat.gray8, .rgbx8, .rgba8], [AlphaMode.opaque, .premultiplied, .straight])
    func `filtering a group of rows to the same size keeps every pixel`(format: PixelFormat, mode: AlphaMode) {
        guard mode == .opaque || format == .rgba8 else { return }
        for width in [1, 2, 8, 67] {
            let plan = Self.plan(format, mode)
            let row = Int16.Row(width: width, plan)
            var bytes = Self.bytes(width * format.bytesPerPixel)
            if format != .gray8 {
                for index in bytes.indices where mode == .opaque && index % 4 == 3 { bytes[index] = 255 }
                for index in bytes.indices where mode != .opaque {
                    let alpha = bytes[index | 3]
                    if mode == .premultiplied || alpha == 0 { bytes[index] = min(bytes[index], alpha) }
                }
            }
            let table = WeightTable<Int16>(
                samples: width, extent: Double(width), length: width, filter: .lanczos3, alignment: 2)
            var group = [Int16](repeating: 0, count: row.groupCount)
            var samples = [Int16](repeating: -1, count: row.count * Int16.rowCount)
            var result = [UInt8](repeating: 1, count: bytes.count)

            row.read(bytes, into: &group, at: 2)
            withPlaces(in: &samples, count: Int16.rowCount) { places in
                Int16.filter(group, row, table, into: places)
                row.write(places[2], to: &result)
            }

            // Color of straight alpha is rounded to a 128th of a level of the product.
            for (index, byte) in bytes.enumerated() {
                let alpha = mode == .straight ? Int(bytes[index | 3]) : 255
                #expect(abs(Int(result[index]) - Int(byte)) <= (alpha < 4 ? 1 : 0))
            }
        }
    }

    @Test(arguments: [SampleLayout.color8, .straight8])
    func `reading rows equals the scalar reader exactly`(layout: SampleLayout) {
        for width in [1, 2, 3, 8, 67] {
            let bytes = Self.bytes(width * 4)
            var result = [Float](repeating: 0, count: width * 4)

            RowReader.read(bytes, width: width, layout: layout, into: &result)

            #expect(
                result == (layout == .color8 ? ScalarKernels.readBytes(bytes) : ScalarKernels.readStraightBytes(bytes)))
        }
    }

    @Test func `writing rows equals the scalar writer`() {
        for width in [1, 2, 3, 4, 5, 67] {
            // Below zero, above the maximum, color above its alpha, halves, and NaN.
            var row = Self.floats(width * 4, seed: 11)
            row[0] = -0.5
            row[1] = .nan
            row[3] = width == 2 ? 0 : 127.5
            var result = [UInt8](repeating: 1, count: width * 4)

            RowWriter.write(row, width: width, layout: .color8, to: &result)

            #expect(result == ScalarKernels.writeBytes(row))
        }
    }

    @Test(arguments: [AlphaMode.straight, .opaque])
    func `reading and writing pixels from 0 to 1 equals the scalar coding exactly`(mode: AlphaMode) {
        let bytes = Self.bytes(53 * 4).enumerated().map { mode == .opaque && $0.offset % 4 == 3 ? 255 : $0.element }
        // Halves of a level, which are rounded to even, values out of range, and NaN.
        var values = (0..<53).map { SIMD4<Float>(Float($0) * 4.5, -3, 300, 127.5) / 255 }
        values[7] = SIMD4(.nan, .infinity, -.infinity, 0.5)
        let coding = PixelCoding(format: .rgba8, alphaMode: mode)
        let gray = PixelCoding(format: .gray8, alphaMode: .opaque)
        for count in [1, 5, 53] {
            var pixels = [SIMD4<Float>](repeating: SIMD4(repeating: 9), count: count)
            var row = [UInt8](repeating: 1, count: count * 4)
            var grayRow = [UInt8](repeating: 1, count: count)

            coding.read(bytes, count, into: &pixels)
            coding.write(values, count, to: &row)
            gray.write(values, count, to: &grayRow)

            let floats = pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] }
            #expect(floats == ScalarKernels.readUnits(Array(bytes[..<(count * 4)])))
            let written = values[..<count].flatMap { pixel in
                (0..<4).map { mode == .opaque && $0 == 3 ? 255 : ScalarKernels.writeUnit(pixel[$0]) }
            }
            #expect(row == written)
            #expect(grayRow == values[..<count].map { ScalarKernels.writeUnit($0.x) })
        }
    }

    @Test func `a color matrix equals the scalar one exactly`() {
        let matrix = ColorMatrix(brightness: 1.3, contrast: 0.7, saturation: 1.9)
        let columns = withUnsafeBytes(of: matrix) { Array($0.bindMemory(to: SIMD4<Float>.self)) }
        let floats = Self.floats(4 * 37, seed: 2)
        let pixels = (0..<37).map {
            SIMD4(floats[$0 * 4], floats[$0 * 4 + 1], floats[$0 * 4 + 2], floats[$0 * 4 + 3])
        }
        var result = pixels

        matrix.apply(to: &result, count: 37)

        #expect(result == pixels.map { ScalarKernels.applyMatrix(columns, $0) })
    }

    @Test func `running column averages equal the scalar ones exactly`() {
        let rows = (0..<3).map { Self.floats(48, seed: UInt64($0 + 1)) }
        var result = [Float](repeating: 0, count: 48)
        let box = RunningAverage(radius: 0, edge: 0.3)
        var average = ColumnAverage(box, floats: 48)

        // With a radius of 0 an average consists of three rows, of which the second is the sum.
        #expect(!average.push(rows[0], into: &result))
        #expect(!average.push(rows[1], into: &result))
        #expect(average.push(rows[2], into: &result))

        #expect(result == ScalarKernels.averageRows(rows[2], rows[0], box, rows[1]))
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `a rotated row equals the scalar one exactly, also at the edges`(mode: AlphaMode) {
        let pixels = PixelBuffer.noise(19, 14, .rgba8, mode, seed: 4)
        let rotation = Rotation(cosine: 0.8, sine: 0.6)
        let size = rotation.size(of: pixels.size)
        for y in 0..<size.height {
            var result = [Float](repeating: 5, count: size.width * 4)
            pixels.withUnsafeBytes { memory in
                guard let base = memory.baseAddress else { return }
                rotation.sample(y, 0..<size.width, of: size, pixels, base, into: &result)
            }

            let expected = ScalarKernels.sampleRow(y, of: size, rotation, pixels)
            #expect(result == expected.flatMap { [$0.x, $0.y, $0.z, $0.w] })
        }
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `blending over a background equals the scalar one`(mode: AlphaMode) throws {
        let flatten = ImageProcessors.Flatten(onto: PixelColor(red: 255, green: 0, blue: 77))
        for width in [1, 3, 4, 31, 256] {
            // Any bytes, including color above its alpha.
            let pixels = PixelBuffer.noise(width, 9, .rgba8, .straight, seed: 6).reinterpreted(as: mode)
            let operation = try #require(try flatten.operation(on: DecodedImage(pixels: pixels).rowHeader))
            for y in 0..<9 {
                var result = [UInt8](repeating: 1, count: width * 4)
                pixels.row(y).withUnsafeBytes { row in
                    guard let base = row.baseAddress else { return }
                    operation.change(base, y, &result)
                }

                let expected = (0..<width).flatMap { x in
                    let pixel = ScalarKernels.flatten(
                        SIMD4(truncatingIfNeeded: pixels.pixel(x, y)), over: [255, 0, 77],
                        isPremultiplied: mode == .premultiplied)
                    return [pixel.x, pixel.y, pixel.z, pixel.w]
                }
                #expect(result == expected)
            }
        }
    }

    private func withPointers<Element>(
        to rows: [[Element]], _ body: (UnsafeBufferPointer<UnsafePointer<Element>>) -> Void
    ) {
        let count = rows[0].count
        rows.flatMap { $0 }.withUnsafeBufferPointer { memory in
            guard let base = memory.baseAddress else { return }
            (0..<rows.count).map { base + $0 * count }.withUnsafeBufferPointer(body)
        }
    }

    /// Passes the starts of `count` rows of the same length.
    private func withPlaces<Element>(
        in rows: inout [Element], count: Int, _ body: (UnsafePointer<UnsafeMutablePointer<Element>>) -> Void
    ) {
        let length = rows.count / count
        rows.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return }
            let places = (0..<count).map { base + $0 * length }
            body(places)
        }
    }

    private static func plan(_ format: PixelFormat, _ mode: AlphaMode? = nil) -> ResamplingPlan {
        let side = PixelSize(width: 1, height: 1)
        return ResamplingPlan(
            from: side, to: side, format: format, alphaMode: mode ?? (format.hasAlpha ? .premultiplied : .opaque),
            sampling: ResizeSampling())
    }

    /// Samples of planes: 255 levels with 7 bits of fraction.
    private static func samples(_ count: Int, seed: UInt64) -> [Int16] {
        var generator = XorShift(state: seed)
        return (0..<count).map { _ in Int16.random(in: 0...255 * 128, using: &generator) }
    }

    private static func floats(_ count: Int, seed: UInt64) -> [Float] {
        var generator = XorShift(state: seed)
        return (0..<count).map { _ in Float.random(in: -300...300, using: &generator) }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var generator = XorShift(state: 9)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
