import AlcedoCore

@testable import AlcedoProcessing

/// The computation of each C kernel, one sample after another, with products and sums in the same order.
enum ScalarKernels {
    static func sumRows(_ rows: [[Float]], _ weights: [Float]) -> [Float] {
        var sums = [Float](repeating: 0, count: rows[0].count)
        for (row, weight) in zip(rows, weights) {
            for (index, value) in row.enumerated() { sums[index] += value * weight }
        }
        return sums
    }

    /// Each of eight running sums has every eighth pixel.
    static func filterPixels(_ row: [Float], _ table: WeightTable<Float>, maximum: Float) -> [Float] {
        table.first.indices.flatMap { x in
            (0..<4).map { channel in
                var sums = [Float](repeating: 0, count: 8)
                for index in 0..<table.count[x] {
                    let weight = table.weights[x * table.stride + index]
                    sums[index % 8] += row[(table.first[x] + index) * 4 + channel] * weight
                }
                let four = (0..<4).map { sums[$0] + sums[$0 + 4] }
                return max(0, min(maximum, (four[0] + four[2]) + (four[1] + four[3])))
            }
        }
    }

    static func filterSamples(_ samples: [Int16], _ table: WeightTable<Int16>) -> [Int16] {
        table.first.indices.map { x in
            rounded(
                (0..<table.count[x]).reduce(0) { sum, index in
                    sum + Int(samples[table.first[x] + index]) * Int(table.weights[x * table.stride + index])
                })
        }
    }

    static func sumSamples(_ rows: [[Int16]], _ weights: [Int16]) -> [Int16] {
        rows[0].indices.map { index in
            rounded(zip(rows, weights).reduce(0) { $0 + Int($1.0[index]) * Int($1.1) })
        }
    }

    /// Returns the sample of a sum, whose weights have 14 bits of fraction.
    private static func rounded(_ sum: Int) -> Int16 { Int16(max(0, min(255 << 7, (sum + (1 << 13)) >> 14))) }

    static func readBytes(_ row: [UInt8]) -> [Float] { row.map { Float($0) } }

    static func readStraightBytes(_ row: [UInt8]) -> [Float] {
        row.indices.map { index in
            let alpha = Float(row[index | 3])
            return index % 4 == 3 ? alpha : Float(row[index]) * alpha / 255
        }
    }

    static func writeBytes(_ row: [Float]) -> [UInt8] {
        row.indices.map { index in
            // NaN is not above 0.
            let alpha = row[index | 3] > 0 ? min(255, row[index | 3]) : 0
            let value = row[index] > 0 ? min(alpha, row[index]) : 0
            return UInt8(value.rounded(.toNearestOrEven))
        }
    }

    static func averageRows(
        _ newest: [Float], _ oldest: [Float], _ box: RunningAverage, _ sums: [Float]
    ) -> [Float] {
        sums.indices.map { (sums[$0] + (newest[$0] + oldest[$0]) * box.edge) * box.share }
    }

    static func readUnits(_ row: [UInt8]) -> [Float] { row.map { Float($0) * (1 / 255 as Float) } }

    static func writeUnit(_ value: Float) -> UInt8 {
        UInt8(((value > 0 ? min(1, value) : 0) * 255).rounded(.toNearestOrEven))
    }

    /// - Parameter columns: The contributions of red, green and blue to the result, and the offset.
    static func applyMatrix(_ columns: [SIMD4<Float>], _ pixel: SIMD4<Float>) -> SIMD4<Float> {
        var color = columns[0] * pixel.x + columns[1] * pixel.y + columns[2] * pixel.z + columns[3]
        color.w = pixel.w
        return color
    }

    /// Returns a pixel over an opaque color, exact and rounded to nearest.
    static func flatten(_ pixel: SIMD4<UInt8>, over color: [Int], isPremultiplied: Bool) -> SIMD4<UInt8> {
        var result = SIMD4<UInt8>(repeating: 255)
        let alpha = Int(pixel.w)
        for channel in 0..<3 {
            let sample = Int(pixel[channel])
            let back = color[channel] * (255 - alpha)
            result[channel] = UInt8(
                isPremultiplied ? min(sample, alpha) + (back + 127) / 255 : (sample * alpha + back + 127) / 255)
        }
        return result
    }

    /// Returns one row of a rotated image of four samples per pixel, by cubic convolution.
    static func sampleRow(_ y: Int, of size: PixelSize, _ rotation: Rotation, _ pixels: PixelBuffer) -> [SIMD4<Float>] {
        func middle(_ position: Int, _ side: Int) -> Double { Double(position) + 0.5 - Double(side) / 2 }
        let down = middle(y, size.height)
        let startX = down * rotation.sine + Double(pixels.width) / 2 - 0.5
        let startY = down * rotation.cosine + Double(pixels.height) / 2 - 0.5
        return (0..<size.width).map { x in
            let across = middle(x, size.width)
            let (sourceX, sourceY) = (across * rotation.cosine + startX, startY - across * rotation.sine)
            guard sourceX >= -2, sourceX < Double(pixels.width + 1), sourceY >= -2, sourceY < Double(pixels.height + 1)
            else { return SIMD4() }
            let (left, top) = (sourceX.rounded(.down), sourceY.rounded(.down))
            let (columns, rows) = (cubicWeights(Float(sourceX - left)), cubicWeights(Float(sourceY - top)))
            var sums = [SIMD4<Float>](repeating: SIMD4(), count: 4)
            for j in 0..<4 {
                for i in 0..<4 {
                    let (column, row) = (Int(left) - 1 + i, Int(top) - 1 + j)
                    guard 0..<pixels.width ~= column, 0..<pixels.height ~= row else { continue }
                    let bytes = pixels.pixel(column, row)
                    var value = SIMD4<Float>(Float(bytes.x), Float(bytes.y), Float(bytes.z), Float(bytes.w))
                    if pixels.alphaMode == .straight {
                        let share = value.w * (1 / 255 as Float)
                        value *= SIMD4(share, share, share, 1)
                    }
                    sums[i] += value * columns[i] * rows[j]
                }
            }
            return (sums[0] + sums[2]) + (sums[1] + sums[3])
        }
    }

    private static func cubicWeights(_ t: Float) -> [Float] {
        let (t2, t3) = (t * t, t * t * t)
        let outer = [(-t3 + 2 * t2 - t) / 2, (t3 - t2) / 2]
        return [outer[0], (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, outer[1]]
    }
}
