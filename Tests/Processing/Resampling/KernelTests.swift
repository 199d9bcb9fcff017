import AlcedoCore
import Testing

@testable import AlcedoProcessing

/// The C bodies that some machines have, against the portable ones. Elsewhere both are the same function.
@Suite struct KernelTests {
    @Test func `sums of rows are the portable ones to the bit`() {
        for floats in [16, 32, 48, 160, 176] {
            for count in [1, 2, 7, 61] {
                let rows = Self.floats(count * floats, seed: 3)
                let weights = Self.floats(count, seed: 5)
                var results = [[Float](repeating: 0, count: floats), [Float](repeating: 1, count: floats)]
                rows.withUnsafeBufferPointer { rows in
                    guard let base = rows.baseAddress else { return }
                    let pointers = (0..<count).map { base + $0 * floats }
                    pointers.withUnsafeBufferPointer { pointers in
                        Convolution.vertical(rows: pointers, weights: weights, floats: floats, into: &results[0])
                        Convolution.portableVertical(
                            rows: pointers, weights: weights, floats: floats, into: &results[1])
                    }
                }

                #expect(results[0] == results[1])
            }
        }
    }

    @Test func `pixels along a row are the portable ones to the bit`() {
        for (cells, length) in [(1, 1), (40, 7), (41, 13), (9, 30), (200, 3)] {
            let table = WeightTable(cells: cells, extent: Double(cells), length: length, filter: .lanczos3)
            let row = Self.floats(cells * 4 + Convolution.slack, seed: 7)
            var results = [[Float](repeating: 0, count: length * 4), [Float](repeating: 1, count: length * 4)]

            Convolution.horizontal(row: row, table: table, channels: 4, into: &results[0])
            Convolution.portableColor(
                row, table.first, table.count, table.weights, stride: table.stride, length: length, into: &results[1])

            #expect(results[0] == results[1])
        }
    }

    @Test(arguments: [SampleLayout.gray8, .color8, .straight8, .color16, .straight16])
    func `rows are read as the portable reader does, to the bit`(layout: SampleLayout) {
        let bytes = Self.bytes(67 * 8)
        for width in [1, 2, 3, 8, 67] {
            var results = [[Float](repeating: 0, count: width * 4), [Float](repeating: 0, count: width * 4)]
            bytes.withUnsafeBytes { bytes in
                guard let row = bytes.baseAddress else { return }
                RowReader.read(row, width: width, layout: layout, into: &results[0])
                RowReader.portableRead(row, width: width, layout: layout, into: &results[1])
            }

            #expect(results[0] == results[1])
        }
    }

    @Test(arguments: [SampleLayout.gray8, .color8, .straight8, .color16, .straight16])
    func `rows are written as the portable writer does`(layout: SampleLayout) {
        for width in [1, 2, 3, 4, 5, 67] {
            // Below nought, above what a sample can be, colour above its alpha, halves, and no number.
            var row = Self.floats(width * 4, seed: 11)
            row[0] = -0.5
            row[1] = .nan
            row[3] = width == 2 ? 0 : 127.5
            // Vector loads of the portable writer want their alignment.
            let memory = Scratch<Float>(count: row.count)
            memory.base.update(from: row, count: row.count)
            var results = [[UInt8](repeating: 1, count: width * 8), [UInt8](repeating: 1, count: width * 8)]

            results[0].withUnsafeMutableBytes { out in
                guard let out = out.baseAddress else { return }
                RowWriter.write(memory.base, width: width, layout: layout, to: out)
            }
            results[1].withUnsafeMutableBytes { out in
                guard let out = out.baseAddress else { return }
                RowWriter.portableWrite(memory.base, width: width, layout: layout, to: out)
            }

            #expect(results[0] == results[1])
        }
    }

    @Test(arguments: [false, true])
    func `sums of columns are the portable ones`(continues: Bool) {
        let bytes = Self.bytes(96 * 5)
        // Vector loads of the portable kernels want their alignment.
        let memory = Scratch<UInt8>(count: bytes.count)
        memory.base.update(from: bytes, count: bytes.count)
        let words = [Scratch<UInt16>(count: 96), Scratch<UInt16>(count: 96)] as InlineArray<2, Scratch<UInt16>>
        let longs = [Scratch<UInt32>(count: 96), Scratch<UInt32>(count: 96)] as InlineArray<2, Scratch<UInt32>>
        for index in 0..<96 {
            for side in 0..<2 {
                words[side].base[index] = UInt16(index)
                longs[side].base[index] = UInt32(index)
            }
        }

        BoxColumns.sum(
            memory.base, rows: 5, bytesPerRow: 96, byteCount: 96, continues: continues, into: words[0].base)
        BoxColumns.portableSum(
            memory.base, rows: 5, bytesPerRow: 96, byteCount: 96, continues: continues, into: words[1].base)
        BoxColumns.premultipliedSum(
            memory.base, rows: 5, bytesPerRow: 96, byteCount: 96, continues: continues, into: longs[0].base)
        BoxColumns.portablePremultipliedSum(
            memory.base, rows: 5, bytesPerRow: 96, byteCount: 96, continues: continues, into: longs[1].base)

        for index in 0..<96 {
            #expect(words[0].base[index] == words[1].base[index])
            #expect(longs[0].base[index] == longs[1].base[index])
        }
    }

    @Test func `pixels from 0 to 1 are read and written as the portable coding does, to the bit`() {
        let bytes = Self.bytes(53 * 8)
        // Halves of a level, which are rounded to even, what is outside, and what is no number.
        var values = (0..<53).map { SIMD4<Float>(Float($0) * 4.5, -3, 300, 127.5) / 255 }
        values[7] = SIMD4(.nan, .infinity, -.infinity, 0.5)
        for (format, mode) in ResizeTests.shapes {
            let coding = PixelCoding(format: format, alphaMode: mode)
            for count in [1, 5, 53] {
                var pixels = [[SIMD4<Float>]](
                    repeating: [SIMD4](repeating: SIMD4(repeating: 9), count: count), count: 2)
                var rows = [[UInt8]](repeating: [UInt8](repeating: 1, count: count * 8), count: 2)
                let source = bytes.enumerated().map { mode == .opaque && $0.offset % 4 == 3 ? 255 : $0.element }

                coding.read(source, count, into: &pixels[0])
                coding.portableRead(source, count, into: &pixels[1])
                coding.write(values, count, to: &rows[0])
                coding.portableWrite(values, count, to: &rows[1])

                #expect(pixels[0] == pixels[1] && rows[0] == rows[1], "\(format) \(mode)")
            }
        }
    }

    @Test func `a colour matrix does what the portable one does, to the bit`() {
        let matrix = ColorMatrix(brightness: 1.3, contrast: 0.7, saturation: 1.9)
        let floats = Self.floats(4 * 37, seed: 2)
        var pixels = [[SIMD4<Float>]](
            repeating: (0..<37).map {
                SIMD4(floats[$0 * 4], floats[$0 * 4 + 1], floats[$0 * 4 + 2], floats[$0 * 4 + 3])
            }, count: 2)

        matrix.apply(to: &pixels[0], count: 37)
        matrix.portableApply(to: &pixels[1], count: 37)

        #expect(pixels[0] == pixels[1])
    }

    @Test func `running averages down columns are the portable ones to the bit`() {
        let rows = (0..<3).map { Self.floats(48, seed: UInt64($0 + 1)) }
        var sums = rows[1]
        var results = [[Float](repeating: 0, count: 48), [Float](repeating: 1, count: 48)]
        let box = RunningAverage(radius: 0, edge: 0.3)
        var average = ColumnAverage(box, floats: 48)

        // A radius of 0: three rows make an average, of which the second is the sum.
        #expect(!average.push(rows[0], into: &results[0]))
        #expect(!average.push(rows[1], into: &results[0]))
        #expect(average.push(rows[2], into: &results[0]))
        ColumnAverage.portableStep(rows[2], rows[0], rows[1], box, 48, &sums, &results[1])

        #expect(results[0] == results[1])
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `a turned row is the portable one to the bit, at the edges too`(mode: AlphaMode) {
        let pixels = PixelBuffer.noise(19, 14, .rgba8, mode, seed: 4)
        let rotation = Rotation(cosine: 0.8, sine: 0.6)
        let size = rotation.size(of: pixels.size)
        for y in 0..<size.height {
            var results = [[Float]](repeating: [Float](repeating: 5, count: size.width * 4), count: 2)
            pixels.withUnsafeBytes { memory in
                guard let base = memory.baseAddress else { return }
                let columns = 0..<size.width
                rotation.sample(y, columns, of: size, pixels, base, into: &results[0])
                rotation.portableSample(
                    y, columns, of: size, pixels, base, SampleLayout(.rgba8, mode), into: &results[1])
            }

            #expect(results[0] == results[1])
        }
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `pixels on a background are the portable ones`(mode: AlphaMode) throws {
        let flatten = Flatten(onto: OpaqueColor(red: 255, green: 0, blue: 77))
        for width in [1, 3, 4, 31, 256] {
            // Any bytes at all, also colour above its alpha.
            let pixels = PixelBuffer.noise(width, 9, .rgba8, .straight, seed: 6).relabelled(mode)
            let header = DecodedImage(pixels: pixels).rowHeader
            let work = try #require(try flatten.work(on: header))
            let portable = flatten.blend(header, UInt8.self)
            for y in 0..<9 {
                var results = [[UInt8]](repeating: [UInt8](repeating: 1, count: width * 4), count: 2)
                pixels.row(y).withUnsafeBytes { row in
                    guard let base = row.baseAddress else { return }
                    work.change(base, y, &results[0])
                    portable.change(base, y, &results[1])
                }

                #expect(results[0] == results[1])
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
