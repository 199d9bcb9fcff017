import AlcedoCore

/// A resampler with the memory that rows need on their way in and out.
final class RowResizerStage {
    private var resampler: Resampler
    private let rowBytes: Int
    private let paddedBytes: Int
    private let resultBytes: Int
    /// The kernels want rows aligned and padded, which those of a stream are not.
    private let row: Scratch<UInt8>
    private let result: Scratch<UInt8>

    init(_ header: PixelRowHeader, to resized: PixelRowHeader, sampling: ResizeSampling) {
        resampler = Resampler(
            from: header.size, to: resized.size, format: header.format, alphaMode: header.alphaMode, sampling: sampling)
        rowBytes = header.bytesPerRow
        paddedBytes = Resampler.paddedRowBytes(header.size.width, header.format)
        resultBytes = resized.bytesPerRow
        row = Scratch(count: paddedBytes)
        result = Scratch(count: resultBytes)
    }

    /// Takes one row and hands on those that can be made now. Rows beyond the last are left out.
    func consume(_ bytes: RawSpan, next: any PixelRowConsumer) throws {
        guard resampler.rowsWanted > 0 else { return }
        bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(start: row.base, count: paddedBytes)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(rowBytes)))
        }
        resampler.push(row.base, count: 1, bytesPerRow: paddedBytes)
        while resampler.pull(into: result.base) {
            try next.consume(UnsafeRawBufferPointer(start: result.base, count: resultBytes).bytes)
        }
    }
}
