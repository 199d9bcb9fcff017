import AlcedoCore

/// A resampler that changes the size of an image with two passes of a filter, after averaging for large reductions.
///
/// Rows are pushed from top to bottom. Each result row can be pulled as soon as its source rows have been pushed, or
/// those of up to three rows after it. Only the rows that the vertical filter needs for these result rows are kept.
struct Resampler: ~Copyable {
    private let source: PixelSize
    private let size: PixelSize
    private let layout: SampleLayout
    private let isLinear: Bool
    private let columns: Axis
    private let rows: Axis
    private let order: PassOrder
    private var reader: CellReader
    /// The cells of one row, or of four rows for `PassOrder.downByFour`.
    private let cells: Scratch<Float>
    /// The weights of four result rows for `PassOrder.downByFour`.
    private let rowWeights: Scratch<Float>
    private let result: Scratch<Float>
    private let band: RowBand
    /// The number of source rows taken so far.
    private var taken = 0
    /// The result rows in ``result``.
    private var computed = 0..<0
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
        order = PassOrder(columns, rows, size, layout)
        reader = CellReader(
            width: source.width, byteCount: Self.paddedRowBytes(source.width, format), layout: layout,
            isLinear: isLinear, horizontal: columns.factor, vertical: rows.factor)
        let cellFloats = layout.floatsPerRow(columns.cells)
        let resultFloats = layout.floatsPerRow(size.width)
        let capacity = rows.cellCount(of: order.rowCount)
        cells = Scratch(count: cellFloats * order.rowCount + Convolution.slack)
        rowWeights = Scratch(count: order == .downByFour ? capacity * order.rowCount : 0)
        result = Scratch(count: resultFloats * order.rowCount)
        band = RowBand(capacity: capacity, floats: order == .across ? resultFloats : cellFloats)
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
        let out = order == .across ? cells.base : kept
        reader.add(first, count: count, bytesPerRow: bytesPerRow, isLast: isLast, into: out)
        if isLast, order == .across { filterColumns(of: cells.base, into: kept) }
    }

    /// Writes the next result row to `out`. Returns `false` when the row needs further input or no rows are left.
    mutating func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard next < size.height else { return false }
        if next == computed.upperBound {
            let range = next..<min(next + order.rowCount, size.height)
            let needed = rows.table.cells(of: range)
            guard taken >= min(needed.upperBound * rows.factor, source.height) else { return false }
            compute(range, from: needed)
            computed = range
        }
        let row = result.base + (next - computed.lowerBound) * layout.floatsPerRow(size.width)
        if isLinear {
            LinearRow.write(row, width: size.width, layout: layout, to: out)
        } else {
            RowWriter.write(row, width: size.width, layout: layout, to: out)
        }
        next += 1
        return true
    }

    private func compute(_ range: Range<Int>, from needed: Range<Int>) {
        switch order {
        case .across: sum(needed, range.lowerBound, into: result.base)
        case .down:
            sum(needed, range.lowerBound, into: cells.base)
            filterColumns(of: cells.base, into: result.base)
        case .downByFour:
            rows.table.writeWeights(of: range, into: rowWeights.base)
            Convolution.verticalByFour(
                rows: band.rows(needed), weights: rowWeights.base, floats: layout.floatsPerRow(columns.cells),
                into: cells.base)
            Convolution.horizontalByFour(
                cells: cells.base, table: columns.table, floats: layout.floatsPerRow(size.width), into: result.base)
        }
    }

    /// Writes the weighted sum of the rows in the band for one result row.
    private func sum(_ needed: Range<Int>, _ index: Int, into out: UnsafeMutablePointer<Float>) {
        rows.table.withUnsafePointers { _, _, weights in
            Convolution.vertical(
                rows: band.rows(needed), weights: weights + index * rows.table.stride, floats: band.floats, into: out)
        }
    }

    private func filterColumns(of row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) {
        Convolution.horizontal(row: row, table: columns.table, channels: layout.channels, into: out)
    }
}

/// The order of the two passes.
private enum PassOrder {
    /// Along each source row first, then down the columns.
    case across
    /// Down the columns first, then along each result row.
    case down
    /// Like `down`, for four result rows with four floats per pixel at once. This takes about two thirds of the time of
    /// `down`.
    case downByFour

    /// The maximum size of the rows for the vertical filter in bytes that fits in the second-level cache of most
    /// processors.
    private static let cacheLimit = 1 << 20

    /// Selects the faster order.
    init(_ columns: Axis, _ rows: Axis, _ size: PixelSize, _ layout: SampleLayout) {
        let downFirst: PassOrder = layout.channels == 4 ? .downByFour : .down
        let bandBytes =
            rows.cellCount(of: downFirst.rowCount) * layout.floatsPerRow(columns.cells) * MemoryLayout<Float>.stride
        let (width, height) = (Double(size.width), Double(size.height))
        // A multiplication along a row takes about twice as long as one down a column of rows in the cache.
        let across = Double(columns.table.taps) * (bandBytes <= Self.cacheLimit ? 2 : 1)
        let down = Double(rows.table.taps)
        let acrossFirstCost = Double(rows.cells) * width * across + height * width * down
        let downFirstCost = height * Double(columns.cells) * down + height * width * across
        self = acrossFirstCost <= downFirstCost ? .across : downFirst
    }

    /// The number of result rows that are computed at once.
    var rowCount: Int { self == .downByFour ? 4 : 1 }
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

extension Axis {
    /// Returns the maximum number of cells with a weight in any of `count` consecutive result pixels, of which the
    /// first is a multiple of `count`.
    fileprivate func cellCount(of count: Int) -> Int {
        stride(from: 0, to: table.length, by: count)
            .lazy.map { table.cells(of: $0..<min($0 + count, table.length)).count }.max() ?? 1
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

/// The most recent rows of an image, which the vertical filter needs at the same time.
private struct RowBand: ~Copyable {
    let floats: Int
    private let capacity: Int
    private let memory: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    /// Creates an empty band.
    ///
    /// - Parameters:
    ///   - capacity: The number of rows to keep, at least one.
    ///   - floats: The number of floats in each row, a multiple of 16.
    init(capacity: Int, floats: Int) {
        self.capacity = capacity
        self.floats = floats
        memory = Scratch(count: capacity * floats)
        pointers = Scratch(count: capacity)
    }

    /// Returns the memory of row `index` of the image, which is valid until row `index + capacity` replaces it.
    func slot(_ index: Int) -> UnsafeMutablePointer<Float> { memory.base + index % capacity * floats }

    /// Returns at most `capacity` rows. The result is valid until the next call.
    func rows(_ range: Range<Int>) -> UnsafeBufferPointer<UnsafePointer<Float>> {
        for (offset, index) in range.enumerated() { pointers.base[offset] = UnsafePointer(slot(index)) }
        return UnsafeBufferPointer(start: pointers.base, count: range.count)
    }
}
