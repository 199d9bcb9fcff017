import AlcedoCore

/// Changes a picture's size by two passes of a filter, after averaging where it shrinks a lot.
///
/// Rows are pushed in from top to bottom; result rows are there to be taken as soon as what they are made of has come.
/// Keeps only the rows that the vertical filter needs at once.
struct Resampler: ~Copyable {
    private let source: PixelSize
    private let size: PixelSize
    private let layout: SampleLayout
    private let isLinear: Bool
    private let columns: Axis
    private let rows: Axis
    private let horizontalFirst: Bool
    private var reader: CellReader
    private let cells: Scratch<Float>
    private let result: Scratch<Float>
    private let band: RowBand
    /// Source rows taken so far.
    private var taken = 0
    /// The next result row.
    private var next = 0

    /// - Parameters: Both sizes are positive, and the source is one that a buffer can have.
    init(
        from source: PixelSize, to size: PixelSize, format: PixelFormat, alphaMode: AlphaMode,
        sampling: ResizeSampling
    ) {
        self.source = source
        self.size = size
        layout = SampleLayout(format, alphaMode)
        isLinear = sampling.inLinearLight
        columns = Axis(source: source.width, target: size.width, sampling)
        rows = Axis(source: source.height, target: size.height, sampling)
        horizontalFirst = Self.filtersAcrossFirst(columns, rows, size)
        reader = CellReader(
            width: source.width, byteCount: Self.paddedRowBytes(source.width, format), layout: layout,
            isLinear: isLinear, horizontal: columns.factor, vertical: rows.factor)
        let cellFloats = layout.floatsPerRow(columns.cells)
        let resultFloats = layout.floatsPerRow(size.width)
        cells = Scratch(count: cellFloats + Convolution.slack)
        result = Scratch(count: resultFloats)
        band = RowBand(capacity: rows.table.taps, floats: horizontalFirst ? resultFloats : cellFloats)
    }

    /// Bytes that are read of every source row: those of its pixels, and those up to the next boundary of rows in a
    /// buffer, whose values do not matter.
    static func paddedRowBytes(_ width: Int, _ format: PixelFormat) -> Int {
        let alignment = PixelBuffer.rowAlignment
        return (width * format.bytesPerPixel + alignment - 1) / alignment * alignment
    }

    /// The most rows that the next ``push(_:count:bytesPerRow:)`` may bring: the rest of a row of cells; nought after
    /// the last row.
    var rowsWanted: Int { min(rows.factor - taken % rows.factor, source.height - taken) }

    /// Takes the next rows of the source.
    ///
    /// - Parameters:
    ///   - first: The first of them; every one begins at a multiple of 32 bytes and has ``paddedRowBytes(_:_:)``.
    ///   - count: From 1 to ``rowsWanted``. Before more come, ``pull(into:)`` must have said that there is no row left.
    mutating func push(_ first: UnsafeRawPointer, count: Int, bytesPerRow: Int) {
        let isLast = count == rowsWanted
        let cell = taken / rows.factor
        taken += count
        // Averaging may leave cells that no result row is made of.
        guard next < size.height, cell >= rows.table.first[next] else { return }
        let kept = band.slot(cell)
        let out = horizontalFirst ? cells.base : kept
        reader.add(first, count: count, bytesPerRow: bytesPerRow, isLast: isLast, into: out)
        if isLast, horizontalFirst { filterColumns(of: cells.base, into: kept) }
    }

    /// Writes the next result row to `out`; false when it needs rows that have not come, or there is none.
    mutating func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard next < size.height else { return false }
        let first = rows.table.first[next]
        let end = first + rows.table.count[next]
        guard taken >= min(end * rows.factor, source.height) else { return false }
        let weights = next * rows.table.stride
        if horizontalFirst {
            band.sum(first..<end, weights: rows.table.weights, from: weights, into: result.base)
        } else {
            band.sum(first..<end, weights: rows.table.weights, from: weights, into: cells.base)
            filterColumns(of: cells.base, into: result.base)
        }
        if isLinear {
            LinearRow.write(result.base, width: size.width, layout: layout, to: out)
        } else {
            RowWriter.write(result.base, width: size.width, layout: layout, to: out)
        }
        next += 1
        return true
    }

    private func filterColumns(of row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) {
        Convolution.horizontal(row: row, table: columns.table, channels: layout.channels, into: out)
    }

    /// Whether filtering along the rows before down the columns takes fewer multiplications.
    private static func filtersAcrossFirst(_ columns: Axis, _ rows: Axis, _ size: PixelSize) -> Bool {
        let (width, height) = (Double(size.width), Double(size.height))
        let (across, down) = (Double(columns.table.taps), Double(rows.table.taps))
        let rowsFirst = Double(rows.cells) * width * across + height * width * down
        let columnsFirst = height * Double(columns.cells) * down + height * width * across
        return rowsFirst <= columnsFirst
    }
}
