import AlcedoCore

/// A filter that changes the size of an image whose rows are pushed from top to bottom.
///
/// Rows are filtered along the row in groups when they arrive, and the short rows that the columns need are kept. A
/// result row can be pulled when the groups of its source rows are complete. Both passes clamp their results to the
/// range of the samples, as Pillow and libvips do, which keeps the overshoot at sharp edges, such as those of text,
/// small.
protocol Resampling: AnyObject {
    /// Whether the source has further rows.
    var needsRow: Bool { get }
    /// Adds the next row of the source. The caller must call ``pull(into:)`` until it returns `false` before the next
    /// push.
    func push(_ row: UnsafeRawPointer)
    /// Writes the next result row to `out`. Returns `false` when the row needs further input or no rows are left.
    func pull(into out: UnsafeMutableRawPointer) -> Bool
}

/// The source, result and filter of a resize.
struct ResamplingPlan {
    let source: PixelSize
    /// The rectangle of the source, in its samples, that becomes the result. The filter also uses samples outside of
    /// it.
    let region: SampleRegion
    /// The rectangle of the source, in its samples, that belongs to the image; nil for all samples.
    let covered: SampleRegion?
    let size: PixelSize
    let sampling: ResizeSampling
    let layout: SampleLayout
    let bytesPerPixel: Int
    let isOpaque: Bool

    /// Creates a plan. Both sizes must be positive and fit in a buffer.
    init(
        from source: PixelSize, region: SampleRegion? = nil, covered: SampleRegion? = nil, to size: PixelSize,
        format: PixelFormat, alphaMode: AlphaMode, sampling: ResizeSampling
    ) {
        self.source = source
        self.region = region ?? SampleRegion(of: source)
        self.covered = covered
        self.size = size
        self.sampling = sampling
        layout = SampleLayout(format, alphaMode)
        bytesPerPixel = format.bytesPerPixel
        isOpaque = alphaMode == .opaque
    }

    /// Whether the samples have 8 bits and are weighted as they are, which 16-bit integers can do.
    private var isNarrow: Bool { layout.maximum == 255 && !sampling.inLinearLight }

    /// The approximate number of bytes that the weights and rows hold at most.
    var byteCount: Double {
        isNarrow ? Resampler<Int16>.byteCount(of: self) : Resampler<Float>.byteCount(of: self)
    }

    func makeResampler() -> any Resampling { isNarrow ? Resampler<Int16>(self) : Resampler<Float>(self) }

    /// Returns the region of the image in the new size, or `nil` when the buffer cannot be created.
    func resample(_ pixels: PixelBuffer) -> PixelBuffer? {
        let resampler = makeResampler()
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

/// Resampling in one type of numbers: integers of 16 bits, or floats.
private final class Resampler<Sample: FilterSample>: Resampling {
    private let plan: ResamplingPlan
    /// The bytes of a source row before the first pixel with a weight.
    private let skippedByteCount: Int
    /// The pixels of a source row from the first to the last one with a weight.
    private let source: Sample.Row
    private let result: Sample.Row
    private let columns: WeightTable<Sample>
    private let rows: WeightTable<Sample>
    /// The source rows of a group, and the places of their filtered rows.
    private let group: Scratch<Sample>
    private let slots: Scratch<UnsafeMutablePointer<Sample>>
    /// The number of rows in the group.
    private var waiting = 0
    /// The most recent filtered rows. Row `index` is in the place `index % capacity`. After them, there is a place for
    /// what the rows that a group lacks become.
    private let band: Scratch<Sample>
    private let capacity: Int
    private let pointers: Scratch<UnsafePointer<Sample>>
    private let sums: Scratch<Sample>
    /// The number of source rows taken so far.
    private var taken = 0
    /// The number of source rows that have been filtered or are not needed.
    private var filtered = 0
    /// The index of the next result row.
    private var next = 0

    init(_ plan: ResamplingPlan) {
        self.plan = plan
        result = Sample.Row(width: plan.size.width, plan)
        let (region, filter) = (plan.region, plan.sampling.filter)
        var columns = WeightTable<Sample>(
            samples: plan.source.width, start: region.x, extent: region.width, length: plan.size.width, filter: filter,
            covered: plan.covered.map { $0.x...$0.x + $0.width }, alignment: Sample.alignment)
        let used = columns.removeUnusedSamples()
        self.columns = columns
        skippedByteCount = used.lowerBound * plan.bytesPerPixel
        source = Sample.Row(width: used.count, plan)
        rows = WeightTable(
            samples: plan.source.height, start: region.y, extent: region.height, length: plan.size.height,
            filter: filter, covered: plan.covered.map { $0.y...$0.y + $0.height })
        capacity = (rows.count.max() ?? 1) + Sample.rowCount - 1
        group = Scratch(count: source.groupCount)
        slots = Scratch(count: Sample.rowCount)
        band = Scratch(count: (capacity + 1) * result.count)
        pointers = Scratch(count: capacity)
        sums = Scratch(count: result.count)
    }

    static func byteCount(of plan: ResamplingPlan) -> Double {
        let (region, filter) = (plan.region, plan.sampling.filter)
        let columns = WeightTable<Sample>.requirements(
            samples: plan.source.width, extent: region.width, length: plan.size.width, filter: filter,
            alignment: Sample.alignment)
        let rows = WeightTable<Sample>.requirements(
            samples: plan.source.height, extent: region.height, length: plan.size.height, filter: filter)
        // The rows of a group, the band, the sums, and the pointers to the rows of the band.
        let source = Double(Sample.Row(width: plan.source.width, plan).groupCount)
        let places = rows.taps + Sample.rowCount
        let band = Double(places + 1) * Double(Sample.Row(width: plan.size.width, plan).count)
        return columns.byteCount + rows.byteCount + (source + band) * Double(MemoryLayout<Sample>.stride)
            + Double(places * MemoryLayout<Int>.stride)
    }

    var needsRow: Bool { taken < plan.source.height }

    func push(_ bytes: UnsafeRawPointer) {
        if next < plan.size.height, taken >= rows.first[next] {
            source.read(bytes + skippedByteCount, into: group.base, at: waiting)
            slots.base[waiting] = slot(taken)
            waiting += 1
        }
        taken += 1
        guard waiting == 0 || waiting == Sample.rowCount || !needsRow else { return }
        if waiting > 0 {
            for place in waiting..<Sample.rowCount { slots.base[place] = band.base + capacity * result.count }
            Sample.filter(group.base, source, columns, into: slots.base)
        }
        filtered = taken
        waiting = 0
    }

    func pull(into out: UnsafeMutableRawPointer) -> Bool {
        guard next < plan.size.height, filtered >= rows.first[next] + rows.count[next] else { return false }
        let count = rows.count[next]
        for offset in 0..<count { pointers.base[offset] = UnsafePointer(slot(rows.first[next] + offset)) }
        rows.withUnsafePointers { _, _, weights in
            Sample.sum(
                UnsafeBufferPointer(start: pointers.base, count: count), weights + next * rows.stride, result,
                into: sums.base)
        }
        result.write(sums.base, to: out)
        next += 1
        return true
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Sample> { band.base + index % capacity * result.count }
}

/// A rectangle in the samples of an image. Its sides need not be whole numbers.
struct SampleRegion: Hashable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    init(of size: PixelSize) {
        (x, y, width, height) = (0, 0, Double(size.width), Double(size.height))
    }

    /// Creates the largest region of an image with the aspect ratio of `result`. If no pixel is scaled, the region
    /// begins at a whole pixel, so that pixels are copied. Throws `invalidParameter` for an invalid anchor.
    init(
        of size: PixelSize, covering result: PixelSize, at anchor: ImageProcessors.Anchor
    ) throws(ImageProcessingError) {
        self.init(of: size)
        let scale = min(width / Double(result.width), height / Double(result.height))
        width = min(width, Double(result.width) * scale)
        height = min(height, Double(result.height) * scale)
        try anchor.place(&self, in: size)
        if scale == 1 { (x, y) = (x.rounded(.down), y.rounded(.down)) }
    }

    /// Creates the region of a part of the full image.
    ///
    /// - Parameters:
    ///   - part: The part of the full image, in its pixels; nil for all of it.
    ///   - size: The size of the samples.
    ///   - reduction: The position of the samples in the full image; nil if they are its pixels.
    init(_ part: SampleRegion?, of size: PixelSize, _ reduction: ImageReduction?) {
        let position = reduction ?? ImageReduction(of: size, exactly: size)
        (x, y, width, height) = (position.x, position.y, position.width, position.height)
        guard let part else { return }
        let (horizontal, vertical) =
            (width / Double(position.fullSize.width), height / Double(position.fullSize.height))
        x += part.x * horizontal
        y += part.y * vertical
        (width, height) = (part.width * horizontal, part.height * vertical)
    }
}
