import AlcedoCore

/// A processor whose result pixels depend on the pixels around them, such as a blur.
///
/// The image keeps its size and format, and the filter is the same on a whole image and on arriving rows.
protocol NeighborhoodProcessing: FramewiseProcessing {
    /// Returns the filter of images with this header, or `nil` when their pixels do not change.
    ///
    /// - Throws: `invalidParameter` for invalid parameters.
    func makeFilter(for header: PixelRowHeader) throws(ImageProcessingError) -> (any RowFilter)?
    /// Returns the number of bytes that the filter needs, zero without a filter, or `Int.max` when the number
    /// overflows. The header must describe an image that fits in a buffer.
    func filterByteCount(for header: PixelRowHeader) -> Int
}

/// The state of a filter over the rows of one image, from top to bottom. Each result row is available as soon as the
/// rows that it depends on have been added.
protocol RowFilter: AnyObject {
    /// Adds the next row, which needs no alignment. The caller must call ``pull(into:)`` until it returns `false`
    /// before the next push. Rows after the last one are ignored.
    func push(_ row: UnsafeRawPointer)
    /// Writes the next result row to `out`. Returns `false` when the row needs further input or no rows are left.
    func pull(into out: UnsafeMutableRawPointer) -> Bool
}

extension NeighborhoodProcessing {
    func processed(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        let pixels = image.pixels
        guard let filter = try makeCheckedFilter(for: image.rowHeader) else { return image.still(pixels) }
        let result = pixels.withUnsafeBytes { source in
            PixelBuffer(size: pixels.size, format: pixels.format, alphaMode: pixels.alphaMode) { memory, stride in
                guard let from = source.baseAddress, var to = memory.baseAddress else { return }
                for y in 0..<pixels.height {
                    filter.push(from + y * pixels.bytesPerRow)
                    while filter.pull(into: to) { to += stride }
                }
            }
        }
        guard let result else { throw PixelLimits.noBuffer(for: pixels.size) }
        return image.still(result)
    }

    package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { FilteredRows(self, next: next) }

    /// Throws `tooLarge` when the rows in flight exceed the limit, before they are allocated.
    fileprivate func makeCheckedFilter(for header: PixelRowHeader) throws(ImageProcessingError) -> (any RowFilter)? {
        guard filterByteCount(for: header) <= PixelLimits.maximumNeighborhoodByteCount else {
            throw ImageProcessingError(
                .tooLarge,
                "cannot apply \(identifier) to rows of \(header.size.width) pixels: the rows in flight need more than "
                    + "\(PixelLimits.maximumNeighborhoodByteCount) bytes; use a smaller neighborhood")
        }
        return try makeFilter(for: header)
    }
}

/// A consumer that filters rows as they arrive.
private final class FilteredRows: PixelRowConsumer {
    private let processor: any NeighborhoodProcessing
    private let next: any PixelRowConsumer
    /// The filter and the memory of a result row, or `nil` when rows are forwarded unchanged.
    private var stage: (filter: any RowFilter, result: RowMemory)?

    init(_ processor: any NeighborhoodProcessing, next: any PixelRowConsumer) {
        self.processor = processor
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        try PixelLimits.checkRows(of: header)
        stage = try processor.makeCheckedFilter(for: header).map { ($0, RowMemory(byteCount: header.bytesPerRow)) }
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        guard let (filter, result) = stage else { return try next.consume(row) }
        row.withUnsafeBytes { row in
            guard let base = row.baseAddress else { return }
            filter.push(base)
        }
        while filter.pull(into: result.base) { try next.consume(result.buffer.bytes) }
    }

    func finish() throws { try next.finish() }

    /// Returns the bytes of the filter and of a result row.
    func byteCount(for header: PixelRowHeader) -> Int {
        processor.filterByteCount(for: header).addingClamped(header.bytesPerRow)
            .addingClamped(next.byteCount(for: header))
    }
}
