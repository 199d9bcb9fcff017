private import CSampleKernels

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
        alcedo_sum_bytes(
            base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
    }

    /// Sums of straight RGBA bytes with colour multiplied by alpha and alpha by 255. Reads `byteCount` bytes of each
    /// row, a multiple of 16; writes as many sums.
    ///
    /// - Parameter continues: Whether what `sums` holds is added to, not replaced.
    static func premultipliedSum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt32>
    ) {
        alcedo_sum_straight_bytes(
            base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
    }
}
