import AlcedoCore
import Testing

@testable import AlcedoProcessing

/// The C kernels, which have an implementation for each kind of processor, compared with one scalar computation.
@Suite struct KernelTests {
    @Test func `row sums equal the scalar ones exactly`() {
        for floats in [16, 32, 48, 160, 176] {
            for count in [1, 2, 7, 61] {
                let rows = Self.floats(count * floats, seed: 3)
                let weights = Self.floats(count, seed: 5)
                var result = [Float](repeating: 0, count: floats)
                rows.withUnsafeBufferPointer { rows in
                    guard let base = rows.baseAddress else { return }
                    let pointers = (0..<count).map { base + $0 * floats }
                    pointers.withUnsafeBufferPointer {
                        Convolution.vertical(rows: $0, weights: weights, floats: floats, into: &result)
                    }
                }

                let slices = (0..<count).map { rows[$0 * floats..<($0 + 1) * floats] }
                #expect(result == ScalarKernels.sumRows(slices, weights))
            }
        }
    }

    @Test func `convolution along a row equals the scalar one exactly`() {
        for (cells, length) in [(1, 1), (40, 7), (41, 13), (9, 30), (200, 3)] {
            let table = WeightTable(samples: cells, extent: Double(cells), length: length, filter: .lanczos3)
            let row = Self.floats(cells * 4 + Convolution.slack, seed: 7)
            var result = [Float](repeating: 0, count: length * 4)

            Convolution.horizontal(row: row, table: table, channels: 4, into: &result)

            #expect(result == ScalarKernels.filterPixels(row, table, sumCount: 8))
        }
    }

    @Test func `four row sums at once equal the scalar ones exactly`() {
        for floats in [16, 32, 176] {
            for count in [1, 2, 61] {
                let rows = Self.floats(count * floats, seed: 3)
                let weights = Self.floats(count * 4, seed: 5)
                var result = [Float](repeating: 0, count: floats * 4)
                rows.withUnsafeBufferPointer { rows in
                    guard let base = rows.baseAddress else { return }
                    let pointers = (0..<count).map { base + $0 * floats }
                    pointers.withUnsafeBufferPointer {
                        Convolution.verticalByFour(rows: $0, weights: weights, floats: floats, into: &result)
                    }
                }

                let slices = (0..<count).map { rows[$0 * floats..<($0 + 1) * floats] }
                let sums = (0..<4).map { place in
                    ScalarKernels.sumRows(slices, (0..<count).map { weights[$0 * 4 + place] })
                }
                #expect(result == ScalarKernels.interleaved(sums))
            }
        }
    }

    @Test func `convolution along four rows at once equals the scalar one exactly`() {
        for (cells, length) in [(1, 1), (40, 7), (41, 13), (9, 30), (200, 3)] {
            let table = WeightTable(samples: cells, extent: Double(cells), length: length, filter: .lanczos3)
            let rows = (0..<4).map { Self.floats(cells * 4, seed: UInt64($0 + 7)) }
            let interleaved = ScalarKernels.interleaved(rows) + Self.floats(Convolution.slack, seed: 6)
            let floats = length * 4 + 8
            var result = [Float](repeating: 0, count: floats * 4)

            Convolution.horizontalByFour(samples: interleaved, table: table, floats: floats, into: &result)

            for (place, row) in rows.enumerated() {
                #expect(
                    Array(result[place * floats..<place * floats + length * 4])
                        == ScalarKernels.filterPixels(row, table, sumCount: 2))
            }
        }
    }

    @Test func `the weights of four result pixels are those of each one`() {
        let table = WeightTable(samples: 41, extent: 41, length: 13, filter: .lanczos3)
        for first in stride(from: 0, to: 13, by: 4) {
            let range = first..<min(first + 4, 13)
            let cells = table.samples(of: range)
            var weights = [Float](repeating: 9, count: cells.count * 4)

            table.writeWeights(of: range, into: &weights)

            for (index, weight) in weights.enumerated() {
                let (cell, result) = (cells.lowerBound + index / 4, first + index % 4)
                let offset = result < 13 ? cell - table.first[result] : -1
                let isUsed = result < 13 && (0..<table.count[result]).contains(offset)
                #expect(weight == (isUsed ? table.weights[result * table.stride + offset] : 0))
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

    @Test func `four rows are added to sums in a ring as the scalar kernel adds them`() {
        let rows = (0..<4).map { Self.floats(48, seed: UInt64($0 + 20)) }
        let weights = Self.floats(3 * 4, seed: 9)
        let start = (0..<5).map { Self.floats(48, seed: UInt64($0 + 30)) }
        var sums = start.flatMap { $0 }

        // Of a ring of five sums, the last two and the first.
        Convolution.addFourRows(rows.flatMap { $0 }, weights: weights, to: 8..<11, of: 5, floats: 48, sums: &sums)

        var expected = start
        for (place, slot) in [3, 4, 0].enumerated() {
            let four = Array(weights[place * 4..<place * 4 + 4])
            expected[slot] = ScalarKernels.addFourRows(rows, four, onto: start[slot])
        }
        #expect(sums == expected.flatMap { $0 })
    }

    @Test(arguments: [4, 5, 9.5, 40])
    func `no more result pixels are in progress than the overlap of a table`(scale: Double) {
        let length = 23
        let samples = Int((Double(length) * scale).rounded(.up))
        let table = WeightTable(
            samples: samples, extent: Double(length) * scale, length: length, filter: .lanczos3)
        let overlap = table.overlap(of: 4)

        var inProgress = 0
        for end in stride(from: 4, through: samples + 3, by: 4) {
            let begun = table.first.prefix { $0 < min(end, samples) }.count
            let complete = (0..<length).prefix { table.samples(of: $0..<$0 + 1).upperBound <= end - 4 }.count
            inProgress = max(inProgress, begun - complete)
        }

        #expect(inProgress <= overlap)
        #expect(overlap <= 9)
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

    private static func floats(_ count: Int, seed: UInt64) -> [Float] {
        var generator = XorShift(state: seed)
        return (0..<count).map { _ in Float.random(in: -300...300, using: &generator) }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var generator = XorShift(state: 9)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
