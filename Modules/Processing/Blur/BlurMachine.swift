import AlcedoCore

/// Blurs rows that are pushed in from top to bottom; blurred ones are there to be taken as soon as what they are made of
/// has come.
struct BlurMachine: ~Copyable {
    private let size: PixelSize
    private let layout: SampleLayout
    private let reach: Int
    private var across: RowBlurrer
    private var down: ColumnBlurrer
    /// The outermost rows are repeated beyond the edges.
    private let line: Scratch<Float>
    private let result: Scratch<Float>
    private var taken = 0
    private var repeatsLeft = 0

    init(_ header: PixelRowHeader, _ kernel: BlurKernel) {
        size = header.size
        layout = SampleLayout(header.format, header.alphaMode)
        reach = kernel.reach
        let floats = layout.floatsPerRow(size.width)
        across = RowBlurrer(kernel, width: size.width, channels: layout.channels)
        down = ColumnBlurrer(kernel, floats: floats)
        line = Scratch(count: floats)
        result = Scratch(count: floats)
    }

    /// Takes the next row, which needs no alignment. Before more come, ``pull(into:)`` must have said that there is none
    /// left. Rows beyond the last are left out.
    mutating func push(_ row: UnsafeRawPointer) {
        guard taken < size.height else { return }
        RowReader.read(row, width: size.width, layout: layout, into: across.input)
        across.blur(into: line.base)
        // The row itself, and at the top and the bottom those beyond.
        repeatsLeft = 1
        if taken == 0 { repeatsLeft += reach }
        taken += 1
        if taken == size.height { repeatsLeft += reach }
    }

    /// Writes the next blurred row to `out`; false when it needs rows that have not come, or there is none.
    mutating func pull(into out: UnsafeMutableRawPointer) -> Bool {
        while repeatsLeft > 0 {
            repeatsLeft -= 1
            guard down.push(line.base, into: result.base) else { continue }
            RowWriter.write(result.base, width: size.width, layout: layout, to: out)
            return true
        }
        return false
    }
}
