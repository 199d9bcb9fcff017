import AlcedoCore

private import CSampleKernels

/// A reader that turns rows of pixels into rows of cells.
///
/// A cell is the average of `horizontal` × `vertical` pixels as floats, with color multiplied by alpha. Sums of stored
/// 8-bit samples are exact, and averages are not rounded to whole numbers. The cells of the last row and column are
/// averages of the remaining pixels. The rows of a cell can be added in one call or in several, with the same result:
/// integer sums do not depend on the order, and floats are always added row by row.
struct CellReader: ~Copyable {
    private let width: Int
    /// The number of bytes that are read from each row, including padding.
    private let byteCount: Int
    private let layout: SampleLayout
    private let isLinear: Bool
    private let horizontal: Int
    /// Whether every cell is a single pixel.
    private let isPlain: Bool
    /// The number of rows in the current sums.
    private var rows = 0
    private let byteSums: Scratch<UInt16>
    private let productSums: Scratch<UInt32>
    private let floatSums: Scratch<Float>
    private let floatRow: Scratch<Float>

    /// Creates a reader. `byteCount`, the number of readable bytes of each row, must be a multiple of 32.
    init(width: Int, byteCount: Int, layout: SampleLayout, isLinear: Bool, horizontal: Int, vertical: Int) {
        self.width = width
        self.byteCount = byteCount
        self.layout = layout
        self.isLinear = isLinear
        self.horizontal = horizontal
        isPlain = horizontal == 1 && vertical == 1
        var (bytes, products, floats) = (0, 0, 0)
        if !isPlain {
            switch layout {
            case _ where isLinear: floats = layout.floatsPerRow(width)
            case .gray8, .color8: bytes = byteCount
            case .straight8: products = byteCount
            case .gray16, .color16, .straight16: floats = layout.floatsPerRow(width)
            }
        }
        byteSums = Scratch(count: bytes)
        productSums = Scratch(count: products)
        floatSums = Scratch(count: floats)
        floatRow = Scratch(count: floats)
    }

    /// Adds rows to the current cells. With the last rows of the cells, writes the cells to `out` and starts the next
    /// ones.
    ///
    /// - Parameters:
    ///   - first: The first of `count` rows. Every row must be aligned to 32 bytes.
    ///   - count: The number of rows. Cells of a single pixel take one row at a time.
    ///   - bytesPerRow: The distance between the starts of two rows in bytes.
    ///   - isLast: Whether the rows include the last row of the cells.
    ///   - out: The memory for the cells.
    mutating func add(
        _ first: UnsafeRawPointer, count: Int, bytesPerRow: Int, isLast: Bool, into out: UnsafeMutablePointer<Float>
    ) {
        guard !isPlain else { return read(first, into: out) }
        addSums(first, count, bytesPerRow)
        rows += count
        guard isLast else { return }
        writeAverages(out)
        rows = 0
    }

    private func addSums(_ first: UnsafeRawPointer, _ count: Int, _ bytesPerRow: Int) {
        let continues = rows > 0
        switch layout {
        case _ where isLinear: addFloats(first, count, bytesPerRow)
        case .gray8, .color8:
            BoxColumns.sum(
                first, rows: count, bytesPerRow: bytesPerRow, byteCount: byteCount, continues: continues,
                into: byteSums.base)
        case .straight8:
            BoxColumns.premultipliedSum(
                first, rows: count, bytesPerRow: bytesPerRow, byteCount: byteCount, continues: continues,
                into: productSums.base)
        case .gray16, .color16, .straight16: addFloats(first, count, bytesPerRow)
        }
    }

    private func addFloats(_ first: UnsafeRawPointer, _ count: Int, _ bytesPerRow: Int) {
        for index in 0..<count {
            let row = first + index * bytesPerRow
            guard rows > 0 || index > 0 else {
                read(row, into: floatSums.base)
                continue
            }
            read(row, into: floatRow.base)
            for offset in 0..<width * layout.channels { floatSums.base[offset] += floatRow.base[offset] }
        }
    }

    private func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Float>) {
        if isLinear {
            LinearRow.read(row, width: width, layout: layout, into: out)
        } else {
            RowReader.read(row, width: width, layout: layout, into: out)
        }
    }

    private func writeAverages(_ out: UnsafeMutablePointer<Float>) {
        switch layout {
        case .gray8 where isLinear, .gray16: averageGray(out, floatSums.base) { $0 }
        case .gray8: averageGray(out, byteSums.base) { Float($0) }
        case .color8 where isLinear, .straight8 where isLinear: averageFloats(out)
        case .color8:
            let sums = UnsafeRawPointer(byteSums.base)
            average(unit: Float(rows), out, zero: SIMD4<UInt32>(repeating: 0), toFloats: Lanes.wideFloats) {
                $0 &+ SIMD4<UInt32>(truncatingIfNeeded: sums.load(fromByteOffset: $1 &* 8, as: SIMD4<UInt16>.self))
            }
        case .straight8:
            let sums = UnsafeRawPointer(productSums.base)
            average(unit: Float(rows) * 255, out, zero: SIMD4<UInt32>(repeating: 0), toFloats: Lanes.wideFloats) {
                $0 &+ sums.load(fromByteOffset: $1 &* 16, as: SIMD4<UInt32>.self)
            }
        case .color16, .straight16: averageFloats(out)
        }
    }

    private func averageFloats(_ out: UnsafeMutablePointer<Float>) {
        let sums = UnsafeRawPointer(floatSums.base)
        average(unit: Float(rows), out, zero: SIMD4<Float>(repeating: 0), toFloats: { $0 }) {
            $0 + sums.load(fromByteOffset: $1 &* 16, as: SIMD4<Float>.self)
        }
    }

    /// Adds up `horizontal` adjacent columns and divides by the number of pixels in the cell.
    ///
    /// - Parameters:
    ///   - unit: The sum of one column of a cell whose samples are all 1.
    ///   - out: The memory for the averages.
    ///   - zero: The initial sum.
    ///   - toFloats: Converts a sum to floats.
    ///   - add: Returns the sum with column `x` added.
    @inline(__always)
    private func average<Sum>(
        unit: Float, _ out: UnsafeMutablePointer<Float>, zero: Sum, toFloats: (Sum) -> SIMD4<Float>,
        adding add: (Sum, _ x: Int) -> Sum
    ) {
        var target = UnsafeMutableRawPointer(out)
        var x = 0
        while x < width {
            let end = min(width, x &+ horizontal)
            let share = 1 / (unit * Float(end &- x))
            var sum = zero
            while x < end {
                sum = add(sum, x)
                x &+= 1
            }
            target.storeBytes(of: toFloats(sum) * share, as: SIMD4<Float>.self)
            target += 16
        }
    }

    @inline(__always)
    private func averageGray<Sum>(
        _ out: UnsafeMutablePointer<Float>, _ sums: UnsafePointer<Sum>, _ float: (Sum) -> Float
    ) {
        var target = out
        var x = 0
        while x < width {
            let end = min(width, x &+ horizontal)
            let count = Float(rows &* (end &- x))
            // For cells of up to 256 × 256 pixels, sums of bytes are below 2²⁴, which a `Float` represents exactly.
            var sum: Float = 0
            while x < end {
                sum += float(sums[x])
                x &+= 1
            }
            target.pointee = sum / count
            target += 1
        }
    }
}

/// Integer sums of the samples of several rows, column by column.
enum BoxColumns {
    /// The maximum number of rows in a sum. 256 × 255 fits in 16 bits, and 256 × 255² in the 24-bit significand of a
    /// float.
    static let maximumRowCount = 256

    /// Sums bytes. Reads `byteCount` bytes of each row, a multiple of 32, and writes the same number of sums. If
    /// `continues` is true, adds to the values in `sums` instead of replacing them.
    static func sum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt16>
    ) {
        alcedo_sum_bytes(
            base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
    }

    /// Sums straight RGBA bytes, with color multiplied by alpha and alpha by 255. Reads `byteCount` bytes of each row,
    /// a multiple of 16, and writes the same number of sums. If `continues` is true, adds to the values in `sums`
    /// instead of replacing them.
    static func premultipliedSum(
        _ base: UnsafeRawPointer, rows: Int, bytesPerRow: Int, byteCount: Int, continues: Bool,
        into sums: UnsafeMutablePointer<UInt32>
    ) {
        alcedo_sum_straight_bytes(
            base.assumingMemoryBound(to: UInt8.self), rows, bytesPerRow, byteCount, continues ? 1 : 0, sums)
    }
}
