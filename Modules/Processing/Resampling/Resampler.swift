import AlcedoCore

/// Changes a buffer's size by two passes of a filter, after averaging where it shrinks a lot.
///
/// Works through the picture from top to bottom and keeps only the rows that the vertical filter needs at once.
struct Resampler {
    private let size: PixelSize
    private let columns: Axis
    private let rows: Axis

    /// - Parameters: Both sizes are positive.
    init(from source: PixelSize, to size: PixelSize, filter: ResizeFilter) {
        self.size = size
        columns = Axis(source: source.width, target: size.width, filter: filter)
        rows = Axis(source: source.height, target: size.height, filter: filter)
    }

    /// Whether filtering rows before columns takes fewer multiplications.
    private var horizontalFirst: Bool {
        let (width, height) = (Double(size.width), Double(size.height))
        let (across, down) = (Double(columns.table.taps), Double(rows.table.taps))
        let rowsFirst = Double(rows.cells) * width * across + height * width * down
        let columnsFirst = height * Double(columns.cells) * down + height * width * across
        return rowsFirst <= columnsFirst
    }

    /// The picture in the new size; nil when there is no such buffer.
    func resample(_ pixels: PixelBuffer) -> PixelBuffer? {
        pixels.withUnsafeBytes { source in
            PixelBuffer(size: size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, bytesPerRow in
                guard let from = source.baseAddress, let to = memory.baseAddress else { return }
                let reader = CellReader(pixels, base: from, horizontal: columns.factor, vertical: rows.factor)
                run(reader, layout: SampleLayout(pixels), to: to, bytesPerRow: bytesPerRow)
            }
        }
    }

    private func run(
        _ reader: borrowing CellReader, layout: SampleLayout, to memory: UnsafeMutableRawPointer, bytesPerRow: Int
    ) {
        let horizontalFirst = horizontalFirst
        let cellFloats = layout.floatsPerRow(columns.cells)
        let resultFloats = layout.floatsPerRow(size.width)
        let cells = Scratch<Float>(count: cellFloats)
        let result = Scratch<Float>(count: resultFloats)
        let band = RowBand(capacity: rows.table.taps, floats: horizontalFirst ? resultFloats : cellFloats)
        var next = 0
        for y in 0..<size.height {
            let first = rows.table.first[y]
            let end = first + rows.table.count[y]
            next = max(next, first)
            while next < end {
                if horizontalFirst {
                    reader.read(next, into: cells.base)
                    filterColumns(of: cells.base, layout, into: band.slot(next))
                } else {
                    reader.read(next, into: band.slot(next))
                }
                next += 1
            }
            let weights = y * rows.table.taps
            if horizontalFirst {
                band.sum(first..<end, weights: rows.table.weights, from: weights, into: result.base)
            } else {
                band.sum(first..<end, weights: rows.table.weights, from: weights, into: cells.base)
                filterColumns(of: cells.base, layout, into: result.base)
            }
            RowWriter.write(result.base, width: size.width, layout: layout, to: memory + y * bytesPerRow)
        }
    }

    private func filterColumns(
        of row: UnsafePointer<Float>, _ layout: SampleLayout, into out: UnsafeMutablePointer<Float>
    ) {
        Convolution.horizontal(row: row, table: columns.table, channels: layout.channels, into: out)
    }
}
