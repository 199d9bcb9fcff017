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

    /// - Parameters:
    ///   - source: Like `size` positive, and one that a buffer can have.
    ///   - extent: The lengths of the source's sides in its pixels; below `source` where the last pixels of rows or columns
    ///     stand for less of the picture than the others. nil: those of `source`.
    init(
        from source: PixelSize, extent: PixelExtent? = nil, to size: PixelSize, format: PixelFormat,
        alphaMode: AlphaMode, sampling: ResizeSampling
    ) {
        let extent = extent ?? PixelExtent(source)
        self.source = source
        self.size = size
        layout = SampleLayout(format, alphaMode)
        isLinear = sampling.inLinearLight
        columns = Axis(source: source.width, extent: extent.width, target: size.width, sampling)
        rows = Axis(source: source.height, extent: extent.height, target: size.height, sampling)
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
    var neededRowCount: Int { min(rows.factor - taken % rows.factor, source.height - taken) }

    /// Takes the next rows of the source.
    ///
    /// - Parameters:
    ///   - first: The first of them; every one begins at a multiple of 32 bytes and has ``paddedRowBytes(_:_:)``.
    ///   - count: From 1 to ``neededRowCount``. Before more come, ``pull(into:)`` must have said that there is no row left.
    mutating func push(_ first: UnsafeRawPointer, count: Int, bytesPerRow: Int) {
        let isLast = count == neededRowCount
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

extension Resampler {
    /// The whole picture in the new size; nil when there is no such buffer.
    static func resample(
        _ pixels: PixelBuffer, extent: PixelExtent? = nil, to size: PixelSize, _ sampling: ResizeSampling
    ) -> PixelBuffer? {
        var resampler = Resampler(
            from: pixels.size, extent: extent, to: size, format: pixels.format, alphaMode: pixels.alphaMode,
            sampling: sampling)
        return pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard var from = source.baseAddress, var to = memory.baseAddress else { return }
                // All rows of a cell at once: their sums stay in registers.
                while true {
                    let count = resampler.neededRowCount
                    guard count > 0 else { return }
                    resampler.push(from, count: count, bytesPerRow: pixels.bytesPerRow)
                    from += count * pixels.bytesPerRow
                    while resampler.pull(into: to) { to += bytesPerRow }
                }
            }
        }
    }
}

/// One side of a resize: which integer boxes come first, and which filter weights follow.
private struct Axis {
    /// Source pixels for each cell; 1 when nothing is averaged.
    let factor: Int
    /// Cells of the source; the last may be smaller than ``factor``.
    let cells: Int
    let table: WeightTable

    /// - Parameters:
    ///   - source: Source pixels; at least one.
    ///   - extent: The source's length in its pixels; at most `source`.
    ///   - target: Result pixels; at least one.
    init(source: Int, extent: Double, target: Int, _ sampling: ResizeSampling) {
        // From a reduction of 4 on, averages leave at least twice the target, and the filter does the rest, as Pillow
        // does with a reducing gap of 2. Measured: a tenfold reduction of 12 megapixels in a fifth to a half of the
        // whole filter's time, and within two levels of it where the picture is smooth.
        factor = sampling.averagesFirst ? max(1, min(BoxColumns.maximumRowCount, source / target / 2)) : 1
        cells = (source - 1) / factor + 1
        table = WeightTable(
            cells: cells, extent: extent / Double(factor), length: target, filter: sampling.filter)
    }
}

/// The lengths of a picture's sides in its pixels, which need not be whole.
struct PixelExtent {
    let width: Double
    let height: Double

    /// - Parameter factor: What both sides are divided by.
    init(_ size: PixelSize, dividedBy factor: Int = 1) {
        width = Double(size.width) / Double(factor)
        height = Double(size.height) / Double(factor)
    }

    /// The extent of a picture of `full` that was averaged down, by the same whole number of pixels both ways, to `size`;
    /// of `size` itself where no such number gives it.
    init(_ size: PixelSize, averagedFrom full: PixelSize) {
        let quotient = { (full: Int, side: Int) in (full - 1) / side + 1 }
        let factor = max(quotient(full.width, size.width), quotient(full.height, size.height))
        let isAveraged = quotient(full.width, factor) == size.width && quotient(full.height, factor) == size.height
        self = isAveraged ? PixelExtent(full, dividedBy: factor) : PixelExtent(size)
    }
}

extension DecodedImage {
    /// The lengths of the sides in pixels, of which the last ones stand for less where a decoder averaged the picture down.
    var extent: PixelExtent {
        fullSize.map { PixelExtent(size, averagedFrom: $0) } ?? PixelExtent(size)
    }
}

/// The last few rows of a picture, which the vertical filter needs at once.
private struct RowBand: ~Copyable {
    private let capacity: Int
    private let floats: Int
    private let rows: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    /// - Parameters:
    ///   - capacity: Rows kept; at least one.
    ///   - floats: Floats of each, a multiple of 16.
    init(capacity: Int, floats: Int) {
        self.capacity = capacity
        self.floats = floats
        rows = Scratch(count: capacity * floats)
        pointers = Scratch(count: capacity)
    }

    /// Where row `index` of the picture is kept, until row `index + capacity` takes its place.
    func slot(_ index: Int) -> UnsafeMutablePointer<Float> { rows.base + index % capacity * floats }

    /// Adds up rows, at most as many as are kept, each times its weight.
    ///
    /// - Parameter start: Index of the first row's weight.
    func sum(
        _ range: Range<Int>, weights: [Float], from start: Int, into out: UnsafeMutablePointer<Float>
    ) {
        for (offset, index) in range.enumerated() { pointers.base[offset] = UnsafePointer(slot(index)) }
        weights.withUnsafeBufferPointer { weights in
            guard let base = weights.baseAddress else { return }
            Convolution.vertical(
                rows: UnsafeBufferPointer(start: pointers.base, count: range.count), weights: base + start,
                floats: floats, into: out)
        }
    }
}
