import AlcedoCore

/// Reads a picture as rows of cells: averages of `horizontal` × `vertical` pixels as floats, colour multiplied by alpha.
///
/// Averages are exact for 8-bit samples and are not rounded to whole numbers. The cells of the last row and column are
/// averages of the pixels there are.
struct CellReader: ~Copyable {
    private let base: UnsafeRawPointer
    private let size: PixelSize
    private let bytesPerRow: Int
    private let layout: SampleLayout
    private let horizontal: Int
    private let vertical: Int
    private let byteSums: Scratch<UInt16>
    private let productSums: Scratch<UInt32>
    private let floatSums: Scratch<Float>
    private let floatRow: Scratch<Float>

    /// - Parameter base: The first row of `pixels`, valid as long as the reader is used.
    init(_ pixels: PixelBuffer, base: UnsafeRawPointer, horizontal: Int, vertical: Int) {
        self.base = base
        size = pixels.size
        bytesPerRow = pixels.bytesPerRow
        layout = SampleLayout(pixels)
        self.horizontal = horizontal
        self.vertical = vertical
        let isPlain = horizontal == 1 && vertical == 1
        var (bytes, products, floats) = (0, 0, 0)
        if !isPlain {
            switch layout {
            case .gray8, .color8: bytes = bytesPerRow
            case .straight8: products = bytesPerRow
            case .color16, .straight16: floats = layout.floatsPerRow(size.width)
            }
        }
        byteSums = Scratch(count: bytes)
        productSums = Scratch(count: products)
        floatSums = Scratch(count: floats)
        floatRow = Scratch(count: floats)
    }

    /// Writes the cells of row `y` to `out`.
    func read(_ y: Int, into out: UnsafeMutablePointer<Float>) {
        let first = y * vertical
        let rows = min(vertical, size.height - first)
        let row = base + first * bytesPerRow
        guard horizontal > 1 || vertical > 1 else {
            return RowReader.read(row, width: size.width, layout: layout, into: out)
        }
        switch layout {
        case .gray8:
            BoxColumns.sum(
                row, rows: rows, bytesPerRow: bytesPerRow, byteCount: bytesPerRow, into: byteSums.base)
            averageGray(rows, out)
        case .color8:
            BoxColumns.sum(
                row, rows: rows, bytesPerRow: bytesPerRow, byteCount: bytesPerRow, into: byteSums.base)
            let sums = UnsafeRawPointer(byteSums.base)
            average(unit: Float(rows), out, zero: SIMD4<UInt32>(repeating: 0), toFloats: Lanes.wideFloats) {
                $0 &+ SIMD4<UInt32>(truncatingIfNeeded: sums.load(fromByteOffset: $1 &* 8, as: SIMD4<UInt16>.self))
            }
        case .straight8:
            BoxColumns.premultipliedSum(
                row, rows: rows, bytesPerRow: bytesPerRow, byteCount: bytesPerRow, into: productSums.base)
            let sums = UnsafeRawPointer(productSums.base)
            average(unit: Float(rows) * 255, out, zero: SIMD4<UInt32>(repeating: 0), toFloats: Lanes.wideFloats) {
                $0 &+ sums.load(fromByteOffset: $1 &* 16, as: SIMD4<UInt32>.self)
            }
        case .color16, .straight16:
            addFloats(row, rows)
            let sums = UnsafeRawPointer(floatSums.base)
            average(unit: Float(rows), out, zero: SIMD4<Float>(repeating: 0), toFloats: { $0 }) {
                $0 + sums.load(fromByteOffset: $1 &* 16, as: SIMD4<Float>.self)
            }
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
        while x < size.width {
            let end = min(size.width, x &+ horizontal)
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

    private func averageGray(_ rows: Int, _ out: UnsafeMutablePointer<Float>) {
        var target = out
        var x = 0
        while x < size.width {
            let end = min(size.width, x &+ horizontal)
            let count = Float(rows &* (end &- x))
            var sum: UInt32 = 0
            while x < end {
                sum &+= UInt32(byteSums.base[x])
                x &+= 1
            }
            target.pointee = Float(sum) / count
            target += 1
        }
    }

    private func addFloats(_ start: UnsafeRawPointer, _ rows: Int) {
        RowReader.read(start, width: size.width, layout: layout, into: floatSums.base)
        for index in 1..<max(rows, 1) {
            RowReader.read(start + index * bytesPerRow, width: size.width, layout: layout, into: floatRow.base)
            for offset in 0..<size.width * 4 { floatSums.base[offset] += floatRow.base[offset] }
        }
    }
}
