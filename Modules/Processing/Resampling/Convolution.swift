#if arch(x86_64)
    private import CSampleKernels
#endif

/// The two passes of a separable filter over rows of floats.
enum Convolution {
    /// Floats behind the last cell of a row that the pass along rows may read, times a weight of nought.
    static let slack = 16

    /// Adds up `weights.count` rows, each times its weight.
    ///
    /// Reads and writes `floats` floats of every row, rounded up to a multiple of 16. Rows need no alignment.
    static func vertical(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        #if arch(x86_64)
            guard let first = rows.baseAddress else { return }
            alcedo_sum_rows(first, weights, rows.count, floats, out)
        #else
            portableVertical(rows: rows, weights: weights, floats: floats, into: out)
        #endif
    }

    /// The same on any machine.
    static func portableVertical(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        let target = UnsafeMutableRawPointer(out)
        var offset = 0
        while offset < floats &* 4 {
            var sum = SIMD16<Float>(repeating: 0)
            for index in 0..<rows.count {
                let values = UnsafeRawPointer(rows[index]).loadUnaligned(
                    fromByteOffset: offset, as: SIMD16<Float>.self)
                sum += values * weights[index]
            }
            target.storeBytes(of: sum, toByteOffset: offset, as: SIMD16<Float>.self)
            offset &+= 64
        }
    }

    /// Makes each pixel of `out` from a stretch of `row`, as `table` says.
    ///
    /// Reads the cells the table names, and up to ``slack`` finite floats behind the row; writes `table.first.count`
    /// pixels of `channels` floats.
    static func horizontal(
        row: UnsafePointer<Float>, table: WeightTable, channels: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.first.withUnsafeBufferPointer { first in
            table.count.withUnsafeBufferPointer { count in
                table.weights.withUnsafeBufferPointer { weights in
                    guard let first = first.baseAddress, let count = count.baseAddress,
                        let weights = weights.baseAddress
                    else { return }
                    let length = table.first.count
                    guard channels == 4 else {
                        for x in 0..<length {
                            out[x] = graySum(row + first[x], weights + x &* table.stride, count[x])
                        }
                        return
                    }
                    #if arch(x86_64)
                        alcedo_filter_pixels(row, first, count, weights, table.stride, length, out)
                    #else
                        portableColor(row, first, count, weights, stride: table.stride, length: length, into: out)
                    #endif
                }
            }
        }
    }

    /// The pass along rows of colour, on any machine.
    static func portableColor(
        _ row: UnsafePointer<Float>, _ first: UnsafePointer<Int>, _ count: UnsafePointer<Int>,
        _ weights: UnsafePointer<Float>, stride: Int, length: Int, into out: UnsafeMutablePointer<Float>
    ) {
        for x in 0..<length {
            let sum = colorSum(UnsafeRawPointer(row + first[x] &* 4), weights + x &* stride, count[x])
            UnsafeMutableRawPointer(out + x &* 4).storeBytes(of: sum, as: SIMD4<Float>.self)
        }
    }

    // Several sums at a time, because each addition waits for the one before it.

    @inline(__always)
    private static func colorSum(
        _ pixels: UnsafeRawPointer, _ weights: UnsafePointer<Float>, _ count: Int
    ) -> SIMD4<Float> {
        var sums = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
        func product(_ index: Int) -> SIMD4<Float> {
            pixels.load(fromByteOffset: index &* 16, as: SIMD4<Float>.self) * weights[index]
        }
        var index = 0
        while index &+ 3 < count {
            sums.0 += product(index)
            sums.1 += product(index &+ 1)
            sums.2 += product(index &+ 2)
            sums.3 += product(index &+ 3)
            index &+= 4
        }
        if index < count { sums.0 += product(index) }
        if index &+ 1 < count { sums.1 += product(index &+ 1) }
        if index &+ 2 < count { sums.2 += product(index &+ 2) }
        return (sums.0 + sums.2) + (sums.1 + sums.3)
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
