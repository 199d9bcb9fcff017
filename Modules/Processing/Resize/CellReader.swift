import AlcedoCore

private import CSampleKernels

/// Makes rows of cells out of rows of pixels: averages of `horizontal` × `vertical` pixels as floats, colour multiplied
/// by alpha.
///
/// Averages are exact for 8-bit samples and are not rounded to whole numbers. The cells of the last row and column are
/// averages of the pixels there are. The rows of a cell may come at once or one after another: sums of whole numbers
/// are the same either way, and floats are added row by row always.
struct CellReader: ~Copyable {
    private let width: Int
    /// Bytes of a row that are read, padding included.
    private let byteCount: Int
    private let layout: SampleLayout
    private let isLinear: Bool
    private let horizontal: Int
    /// Whether every pixel is a cell.
    private let isPlain: Bool
    /// Rows that the sums hold.
    private var rows = 0
    private let byteSums: Scratch<UInt16>
    private let productSums: Scratch<UInt32>
    private let floatSums: Scratch<Float>
    private let floatRow: Scratch<Float>

    /// - Parameter byteCount: Bytes of every row that may be read, a multiple of 32.
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
            case .color16, .straight16: floats = layout.floatsPerRow(width)
            }
        }
        byteSums = Scratch(count: bytes)
        productSums = Scratch(count: products)
        floatSums = Scratch(count: floats)
        floatRow = Scratch(count: floats)
    }

    /// Adds rows to the cells; with their last rows writes the cells to `out`, and the next ones begin.
    ///
    /// - Parameters:
    ///   - first: The first of `count` rows, aligned to 32 bytes, as the others are.
    ///   - isLast: Whether the last rows of the cells are among these. Plain cells have only one.
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
        case .color16, .straight16: addFloats(first, count, bytesPerRow)
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
        case .gray8 where isLinear: averageGray(out, floatSums.base) { $0 }
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

    /// Adds up `horizontal` neighbouring columns and divides by the pixels of the cell.
    ///
    /// - Parameters:
    ///   - unit: What one column of a cell with the sample value 1 adds up to.
    ///   - add: The sum with column `x` added.
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
            // Sums of bytes are below 2²⁴ for boxes of 256 x 256 pixels: exact.
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

/// Adds up the samples of several rows, column by column, in whole numbers.
enum BoxColumns {
    /// The most rows that can be added: 256 × 255 fits 16 bits, and 256 × 255² fits the 24 bits that a float holds.
    static let maximumRowCount = 256

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
