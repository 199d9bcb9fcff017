/// The two passes of a separable filter over rows of floats.
enum Convolution {
    /// Adds up `weights.count` rows, each times its weight.
    ///
    /// Reads and writes `floats` floats of every row, rounded up to a multiple of 16.
    static func vertical(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let target = UnsafeMutableRawPointer(out)
        var offset = 0
        while offset < floats &* 4 {
            var sum = SIMD16<Float>(repeating: 0)
            for index in 0..<rows.count {
                let values = UnsafeRawPointer(rows[index]).load(fromByteOffset: offset, as: SIMD16<Float>.self)
                sum += values * weights[index]
            }
            target.storeBytes(of: sum, toByteOffset: offset, as: SIMD16<Float>.self)
            offset &+= 64
        }
    }

    /// Makes each pixel of `out` from a stretch of `row`, as `table` says.
    ///
    /// Reads the cells the table names; writes `table.first.count` pixels of `channels` floats.
    static func horizontal(
        row: UnsafePointer<Float>, table: WeightTable, channels: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.first.withUnsafeBufferPointer { first in
            table.count.withUnsafeBufferPointer { count in
                table.weights.withUnsafeBufferPointer { weights in
                    guard var weight = weights.baseAddress else { return }
                    for x in 0..<first.count {
                        if channels == 4 {
                            let sum = colorSum(UnsafeRawPointer(row + first[x] &* 4), weight, count[x])
                            UnsafeMutableRawPointer(out + x &* 4).storeBytes(of: sum, as: SIMD4<Float>.self)
                        } else {
                            out[x] = graySum(row + first[x], weight, count[x])
                        }
                        weight += table.taps
                    }
                }
            }
        }
    }

    // Two sums at a time, because each addition waits for the one before it.

    @inline(__always)
    private static func colorSum(
        _ pixels: UnsafeRawPointer, _ weights: UnsafePointer<Float>, _ count: Int
    ) -> SIMD4<Float> {
        var even = SIMD4<Float>(repeating: 0)
        var odd = SIMD4<Float>(repeating: 0)
        var index = 0
        while index &+ 1 < count {
            even += pixels.load(fromByteOffset: index &* 16, as: SIMD4<Float>.self) * weights[index]
            odd += pixels.load(fromByteOffset: index &* 16 &+ 16, as: SIMD4<Float>.self) * weights[index &+ 1]
            index &+= 2
        }
        if index < count { even += pixels.load(fromByteOffset: index &* 16, as: SIMD4<Float>.self) * weights[index] }
        return even + odd
    }

    @inline(__always)
    private static func graySum(
        _ samples: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ count: Int
    ) -> Float {
        var even: Float = 0
        var odd: Float = 0
        var index = 0
        while index &+ 1 < count {
            even += samples[index] * weights[index]
            odd += samples[index &+ 1] * weights[index &+ 1]
            index &+= 2
        }
        return index < count ? even + odd + samples[index] * weights[index] : even + odd
    }
}
