#if arch(x86_64)
    private import CSampleKernels
#endif

/// Adds up the samples of several rows, column by column, in whole numbers.
enum BoxColumns {
    /// The most rows that can be added: 256 × 255 fits 16 bits, and 256 × 255² fits the 24 bits that a float holds.
    static let mostRows = 256

    /// Sums of bytes. Reads `byteCount` bytes of each row, a multiple of 32; writes as many sums.
    ///
    /// - Parameter continues: Whether what `sums` holds is added to, not replaced.
    static func sum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt16>
    ) {
        #if arch(x86_64)
            alcedo_sum_bytes(
                base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
        #else
            portableSum(
                base, rows: rows, bytesPerRow: bytesPerRow, byteCount: byteCount, continues: continues, into: sums)
        #endif
    }

    /// The same on any machine.
    static func portableSum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt16>
    ) {
        let target = UnsafeMutableRawPointer(sums)
        var offset = 0
        while offset < byteCount {
            var sum =
                continues
                ? target.load(fromByteOffset: offset &* 2, as: SIMD32<UInt16>.self) : SIMD32<UInt16>(repeating: 0)
            var row = base + offset
            for _ in 0..<rows {
                sum &+= SIMD32<UInt16>(truncatingIfNeeded: row.load(as: SIMD32<UInt8>.self))
                row += bytesPerRow
            }
            target.storeBytes(of: sum, toByteOffset: offset &* 2, as: SIMD32<UInt16>.self)
            offset &+= 32
        }
    }

    /// Sums of straight RGBA bytes with colour multiplied by alpha and alpha by 255. Reads `byteCount` bytes of each
    /// row, a multiple of 16; writes as many sums.
    ///
    /// - Parameter continues: Whether what `sums` holds is added to, not replaced.
    static func premultipliedSum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt32>
    ) {
        #if arch(x86_64)
            alcedo_sum_straight_bytes(
                base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
        #else
            portablePremultipliedSum(
                base, rows: rows, bytesPerRow: bytesPerRow, byteCount: byteCount, continues: continues, into: sums)
        #endif
    }

    /// The same on any machine.
    static func portablePremultipliedSum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt32>
    ) {
        let target = UnsafeMutableRawPointer(sums)
        var offset = 0
        while offset < byteCount {
            var sum =
                continues
                ? target.load(fromByteOffset: offset &* 4, as: SIMD16<UInt32>.self) : SIMD16<UInt32>(repeating: 0)
            var row = base + offset
            for _ in 0..<rows {
                let pixels = row.load(as: SIMD4<UInt32>.self)
                // Alpha is the highest byte of the word: the platform's machines, x86-64 and arm64, are little-endian.
                let alpha = pixels &>> 24
                let factors = alpha | alpha &<< 8 | alpha &<< 16 | 0xFF00_0000
                let samples = SIMD16<UInt16>(truncatingIfNeeded: unsafeBitCast(pixels, to: SIMD16<UInt8>.self))
                let multiplied =
                    samples &* SIMD16<UInt16>(truncatingIfNeeded: unsafeBitCast(factors, to: SIMD16<UInt8>.self))
                sum &+= SIMD16<UInt32>(truncatingIfNeeded: multiplied)
                row += bytesPerRow
            }
            target.storeBytes(of: sum, toByteOffset: offset &* 4, as: SIMD16<UInt32>.self)
            offset &+= 16
        }
    }
}
