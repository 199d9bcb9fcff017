import AlcedoCore

/// A resampler that changes the size of an image with two passes of a filter.
///
/// Rows are pushed from top to bottom. Each result row can be pulled as soon as its source rows have been pushed, or
/// those of up to three rows after it. Only the rows that the vertical filter needs for these result rows are kept.
struct Resampler: ~Copyable {
    private let source: PixelSize
    private let size: PixelSize
    private let layout: SampleLayout
    private let isLinear: Bool
    private let columns: WeightTable
    private let rows: WeightTable
    private let order: PassOrder
    /// The floats of one source row, or of four rows for `PassOrder.downByFour` and `PassOrder.downBySums`.
    private let samples: Scratch<Float>
    /// The weights of four result rows for `PassOrder.downByFour`, or of four source rows for `PassOrder.downBySums`.
    private let rowWeights: Scratch<Float>
    private let result: Scratch<Float>
    /// The source rows in use, or for `PassOrder.downBySums` the sums of the result rows that are not complete.
    private let band: RowBand
    /// The number of source rows taken so far.
    private var taken = 0
    /// The result rows in ``result``.
    private var computed = 0..<0
    /// The index of the next result row.
    private var next = 0
    /// The number of result rows whose sums have begun, for `PassOrder.downBySums`.
    private var begun = 0

    /// Creates a resampler. Both sizes must be positive and fit in a buffer.
    ///
    /// - Parameters:
    ///   - source: The size of the source.
    ///   - region: The rectangle of the source, in its samples, that becomes the result; nil for the whole source. The
    ///     filter also uses samples outside of the rectangle.
    ///   - size: The size of the result.
    ///   - format: The pixel format of the source and the result.
    ///   - alphaMode: The alpha mode of the source and the result.
    ///   - sampling: The filter and its options.
    init(
        from source: PixelSize, region: SampleRegion? = nil, to size: PixelSize, format: PixelFormat,
        alphaMode: AlphaMode, sampling: ResizeSampling
    ) {
        let region = region ?? SampleRegion(of: source)
        self.source = source
        self.size = size
        layout = SampleLayout(format, alphaMode)
        isLinear = sampling.inLinearLight
        columns = WeightTable(
            samples: source.width, start: region.x, extent: region.width, length: size.width, filter: sampling.filter)
        rows = WeightTable(
            samples: source.height, start: region.y, extent: region.height, length: size.height,
            filter: sampling.filter)
        order = PassOrder(columns, rows, from: source, to: size, layout)
        let sourceFloats = layout.floatsPerRow(source.width)
        let resultFloats = layout.floatsPerRow(size.width)
        let capacity = order == .downBySums ? rows.overlap(of: order.rowCount) : rows.sampleCount(of: order.rowCount)
        samples = Scratch(count: sourceFloats * order.rowCount + Convolution.slack)
        rowWeights = Scratch(count: order.rowCount > 1 ? capacity * order.rowCount : 0)
        result = Scratch(count: resultFloats * (order == .downByFour ? order.rowCount : 1))
        band = RowBand(capacity: capacity, floats: order == .across ? resultFloats : sourceFloats)
    }

    /// Returns the number of bytes that are read from every source row: its pixels and the padding up to the next row
    /// alignment of a buffer. The values of the padding do not matter.
    static func paddedRowBytes(_ width: Int, _ format: PixelFormat) -> Int {
        let alignment = PixelBuffer.rowAlignment
        return (width * format.bytesPerPixel + alignment - 1) / alignment * alignment
    }

    /// Whether the source has further rows.
    var needsRow: Bool { taken < source.height }

    /// Adds the next row of the source. The caller must call ``pull(into:)`` until it returns `false` before the next
    /// push. The row must be aligned to 32 bytes and have ``paddedRowBytes(_:_:)`` bytes.
    mutating func push(_ row: UnsafeRawPointer) {
        let index = taken
        taken += 1
        guard next < size.height else { return }
        if order == .downBySums { return addToSums(row, index) }
        guard index >= rows.first[next] else { return }
        let kept = band.slot(index)
        let out = order == .across ? samples.base : kept
        read(row, into: out)
        if order == .across { filterColumns(of: out, into: kept) }
    }

    private func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Float>) {
        if isLinear {
            LinearRow.read(row, width: source.width, layout: layout, into: out)
        } else {
            RowReader.read(row, width: source.width, layout: layout, into: out)
        }
    }

    /// Adds a source row to the sums of all result rows in which it has a weight, four rows at a time.
    private mutating func addToSums(_ row: UnsafeRawPointer, _ index: Int) {
        let group = index - index % order.rowCount
        let floats = layout.floatsPerRow(source.width)
        if index >= rows.first[next] { read(row, into: samples.base + (index - group) * floats) }
        guard taken % order.rowCount == 0 || taken == source.height else { return }
        while begun < size.height, rows.first[begun] < taken {
            band.slot(begun).update(repeating: 0, count: floats)
            begun += 1
        }
        guard begun > next else { return }
        rows.writeWeights(of: next..<begun, samples: group..<taken, by: order.rowCount, into: rowWeights.base)
        band.add(samples.base, weights: rowWeights.base, to: next..<begun)
    }

    /// Writes the next result row to `out`. Returns `false` when the row needs further input or no rows are left.
    mutating func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard next < size.height else { return false }
        if next == computed.upperBound {
            let count = order == .downByFour ? order.rowCount : 1
            let range = next..<min(next + count, size.height)
            let needed = rows.samples(of: range)
            let complete = order == .downBySums && needsRow ? taken - taken % order.rowCount : taken
            guard complete >= needed.upperBound else { return false }
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
            sum(needed, range.lowerBound, into: samples.base)
            filterColumns(of: samples.base, into: result.base)
        case .downByFour:
            rows.writeWeights(of: range, into: rowWeights.base)
            Convolution.verticalByFour(
                rows: band.rows(needed), weights: rowWeights.base, floats: layout.floatsPerRow(source.width),
                into: samples.base)
            Convolution.horizontalByFour(
                samples: samples.base, table: columns, floats: layout.floatsPerRow(size.width), into: result.base)
        case .downBySums: filterColumns(of: band.slot(range.lowerBound), into: result.base)
        }
    }

    /// Writes the weighted sum of the rows in the band for one result row.
    private func sum(_ needed: Range<Int>, _ index: Int, into out: UnsafeMutablePointer<Float>) {
        rows.withUnsafePointers { _, _, weights in
            Convolution.vertical(
                rows: band.rows(needed), weights: weights + index * rows.stride, floats: band.floats, into: out)
        }
    }

    private func filterColumns(of row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) {
        Convolution.horizontal(row: row, table: columns, channels: layout.channels, into: out)
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
    /// Like `down`, but each source row is added to the sums of the result rows when it arrives, four rows at a time.
    /// For large reductions, few sums take less memory than the rows that the filter needs, and stay in the caches.
    case downBySums

    /// The maximum size of the rows for the vertical filter in bytes that fits in the second-level cache of most
    /// processors.
    private static let cacheLimit = 1 << 20

    /// The smallest reduction of the height for which sums are faster than kept rows.
    private static let sumsMinimum = 4.0

    /// Selects the faster order.
    init(
        _ columns: WeightTable, _ rows: WeightTable, from source: PixelSize, to size: PixelSize, _ layout: SampleLayout
    ) {
        guard rows.scale < Self.sumsMinimum else {
            self = .downBySums
            return
        }
        let downFirst: PassOrder = layout.channels == 4 ? .downByFour : .down
        let bandBytes =
            rows.sampleCount(of: downFirst.rowCount) * layout.floatsPerRow(source.width) * MemoryLayout<Float>.stride
        let (width, height) = (Double(size.width), Double(size.height))
        // A multiplication along a row takes about twice as long as one down a column of rows in the cache.
        let across = Double(columns.taps) * (bandBytes <= Self.cacheLimit ? 2 : 1)
        let down = Double(rows.taps)
        let acrossFirstCost = Double(source.height) * width * across + height * width * down
        let downFirstCost = height * Double(source.width) * down + height * width * across
        self = acrossFirstCost <= downFirstCost ? .across : downFirst
    }

    /// The number of rows that are computed or added at once.
    var rowCount: Int { self == .downByFour || self == .downBySums ? 4 : 1 }
}

extension Resampler {
    /// Returns the region of the image in the new size, or `nil` when the buffer cannot be created.
    static func resample(
        _ pixels: PixelBuffer, region: SampleRegion? = nil, to size: PixelSize, _ sampling: ResizeSampling
    ) -> PixelBuffer? {
        var resampler = Resampler(
            from: pixels.size, region: region, to: size, format: pixels.format, alphaMode: pixels.alphaMode,
            sampling: sampling)
        return pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard var from = source.baseAddress, var to = memory.baseAddress else { return }
                while resampler.needsRow {
                    resampler.push(from)
                    from += pixels.bytesPerRow
                    while resampler.pull(into: to) { to += bytesPerRow }
                }
            }
        }
    }
}

/// A rectangle in the samples of an image. Its sides need not be whole numbers.
struct SampleRegion: Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Creates the region of all samples.
    init(of size: PixelSize) {
        (x, y, width, height) = (0, 0, Double(size.width), Double(size.height))
    }

    /// Creates the region of a part of the full image.
    ///
    /// - Parameters:
    ///   - part: The part of the full image, in its pixels; nil for all of it.
    ///   - size: The size of the samples.
    ///   - reduction: The position of the samples in the full image; nil if they are its pixels.
    init(_ part: PixelRect?, of size: PixelSize, _ reduction: ImageReduction?) {
        let position = reduction ?? ImageReduction(of: size, exactly: size)
        (x, y, width, height) = (position.x, position.y, position.width, position.height)
        guard let part else { return }
        let (horizontal, vertical) =
            (width / Double(position.fullSize.width), height / Double(position.fullSize.height))
        x += Double(part.x) * horizontal
        y += Double(part.y) * vertical
        (width, height) = (Double(part.size.width) * horizontal, Double(part.size.height) * vertical)
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
        memory = Scratch(count: capacity * floats + Convolution.slack)
        pointers = Scratch(count: capacity)
    }

    /// Returns the memory of row `index` of the image, which is valid until row `index + capacity` replaces it.
    func slot(_ index: Int) -> UnsafeMutablePointer<Float> { memory.base + index % capacity * floats }

    /// Adds four rows, which are ``floats`` apart, to each of the rows in `range`, at most `capacity` of them.
    ///
    /// `weights` has four weights for each of the rows.
    func add(_ four: UnsafePointer<Float>, weights: UnsafePointer<Float>, to range: Range<Int>) {
        Convolution.addFourRows(
            four, weights: weights, to: range, of: capacity, floats: floats, sums: memory.base)
    }

    /// Returns at most `capacity` rows. The result is valid until the next call.
    func rows(_ range: Range<Int>) -> UnsafeBufferPointer<UnsafePointer<Float>> {
        for (offset, index) in range.enumerated() { pointers.base[offset] = UnsafePointer(slot(index)) }
        return UnsafeBufferPointer(start: pointers.base, count: range.count)
    }
}
