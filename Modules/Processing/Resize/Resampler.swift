import AlcedoCore

/// A resampler that changes the size of an image with two passes of a filter, after averaging for large reductions.
///
/// Rows are pushed from top to bottom. Each result row can be pulled as soon as its source rows have been pushed. Only
/// the rows that the vertical filter needs at the same time are kept.
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
    /// The number of source rows taken so far.
    private var taken = 0
    /// The index of the next result row.
    private var next = 0

    /// Creates a resampler. Both sizes must be positive and fit in a buffer.
    ///
    /// - Parameters:
    ///   - source: The size of the source.
    ///   - extent: The lengths of the source's sides in its pixels, or `nil` for the lengths of `source`. They are
    ///     below `source` when the last pixels of rows or columns represent a smaller part of the image than the
    ///     others.
    ///   - size: The size of the result.
    ///   - format: The pixel format of the source and the result.
    ///   - alphaMode: The alpha mode of the source and the result.
    ///   - sampling: The filter and its options.
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

    /// Returns the number of bytes that are read from every source row: its pixels and the padding up to the next row
    /// alignment of a buffer. The values of the padding do not matter.
    static func paddedRowBytes(_ width: Int, _ format: PixelFormat) -> Int {
        let alignment = PixelBuffer.rowAlignment
        return (width * format.bytesPerPixel + alignment - 1) / alignment * alignment
    }

    /// The number of source rows that complete the current row of cells, and the maximum number of rows in the next
    /// ``push(_:count:bytesPerRow:)``. Zero after the last row.
    var neededRowCount: Int { min(rows.factor - taken % rows.factor, source.height - taken) }

    /// Adds the next rows of the source.
    ///
    /// - Parameters:
    ///   - first: The first of the rows. Every row must be aligned to 32 bytes and have ``paddedRowBytes(_:_:)`` bytes.
    ///   - count: The number of rows, from 1 to ``neededRowCount``. The caller must call ``pull(into:)`` until it
    ///     returns `false` before the next push.
    ///   - bytesPerRow: The distance between the starts of two rows in bytes.
    mutating func push(_ first: UnsafeRawPointer, count: Int, bytesPerRow: Int) {
        let isLast = count == neededRowCount
        let cell = taken / rows.factor
        taken += count
        // After averaging, some cells may not contribute to any result row.
        guard next < size.height, cell >= rows.table.first[next] else { return }
        let kept = band.slot(cell)
        let out = horizontalFirst ? cells.base : kept
        reader.add(first, count: count, bytesPerRow: bytesPerRow, isLast: isLast, into: out)
        if isLast, horizontalFirst { filterColumns(of: cells.base, into: kept) }
    }

    /// Writes the next result row to `out`. Returns `false` when the row needs further input or no rows are left.
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

    /// Whether filtering along the rows first needs no more multiplications than filtering down the columns first.
    private static func filtersAcrossFirst(_ columns: Axis, _ rows: Axis, _ size: PixelSize) -> Bool {
        let (width, height) = (Double(size.width), Double(size.height))
        let (across, down) = (Double(columns.table.taps), Double(rows.table.taps))
        let rowsFirst = Double(rows.cells) * width * across + height * width * down
        let columnsFirst = height * Double(columns.cells) * down + height * width * across
        return rowsFirst <= columnsFirst
    }
}

extension Resampler {
    /// Returns the whole image in the new size, or `nil` when the buffer cannot be created.
    static func resample(
        _ pixels: PixelBuffer, extent: PixelExtent? = nil, to size: PixelSize, _ sampling: ResizeSampling
    ) -> PixelBuffer? {
        var resampler = Resampler(
            from: pixels.size, extent: extent, to: size, format: pixels.format, alphaMode: pixels.alphaMode,
            sampling: sampling)
        return pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard var from = source.baseAddress, var to = memory.baseAddress else { return }
                // All rows of a cell are pushed in one call, so that their sums stay in registers.
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

/// The averages and filter weights along one axis of a resize.
private struct Axis {
    /// The number of source pixels per cell. 1 means that nothing is averaged.
    let factor: Int
    /// The number of cells. The last cell may have fewer pixels than ``factor``.
    let cells: Int
    let table: WeightTable

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - source: The number of source pixels, at least one.
    ///   - extent: The length of the source in its pixels, at most `source`.
    ///   - target: The number of result pixels, at least one.
    ///   - sampling: The filter and its options.
    init(source: Int, extent: Double, target: Int, _ sampling: ResizeSampling) {
        // For reductions by 4 or more, averaging stops at no less than twice the target and the filter does the rest,
        // like Pillow with a reducing gap of 2. Measured on a tenfold reduction of 12 megapixels: a fifth to a half of
        // the time of the filter alone, and results within two levels of it in smooth areas.
        factor = sampling.averagesFirst ? max(1, min(BoxColumns.maximumRowCount, source / target / 2)) : 1
        cells = (source - 1) / factor + 1
        table = WeightTable(
            cells: cells, extent: extent / Double(factor), length: target, filter: sampling.filter)
    }
}

/// The lengths of an image's sides in its pixels. They need not be whole numbers.
struct PixelExtent {
    let width: Double
    let height: Double

    /// Creates the extent of an image with both sides divided by `factor`.
    init(_ size: PixelSize, dividedBy factor: Int = 1) {
        width = Double(size.width) / Double(factor)
        height = Double(size.height) / Double(factor)
    }

    /// Creates the extent of an image of size `size` that was averaged down from size `full` by the same integer factor
    /// on both axes. When no such factor exists, the extent is `size`.
    init(_ size: PixelSize, averagedFrom full: PixelSize) {
        let quotient = { (full: Int, side: Int) in (full - 1) / side + 1 }
        let factor = max(quotient(full.width, size.width), quotient(full.height, size.height))
        let isAveraged = quotient(full.width, factor) == size.width && quotient(full.height, factor) == size.height
        self = isAveraged ? PixelExtent(full, dividedBy: factor) : PixelExtent(size)
    }
}

extension DecodedImage {
    /// The lengths of the sides in pixels. The last pixels count only partly when a decoder averaged the image down.
    var extent: PixelExtent {
        fullSize.map { PixelExtent(size, averagedFrom: $0) } ?? PixelExtent(size)
    }
}

/// The most recent rows of an image that the vertical filter needs at the same time.
private struct RowBand: ~Copyable {
    private let capacity: Int
    private let floats: Int
    private let rows: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    /// Creates an empty band.
    ///
    /// - Parameters:
    ///   - capacity: The number of rows to keep, at least one.
    ///   - floats: The number of floats in each row, a multiple of 16.
    init(capacity: Int, floats: Int) {
        self.capacity = capacity
        self.floats = floats
        rows = Scratch(count: capacity * floats)
        pointers = Scratch(count: capacity)
    }

    /// Returns the memory of row `index` of the image, which is valid until row `index + capacity` replaces it.
    func slot(_ index: Int) -> UnsafeMutablePointer<Float> { rows.base + index % capacity * floats }

    /// Writes the weighted sum of at most `capacity` rows to `out`. `start` is the index of the first row's weight.
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
