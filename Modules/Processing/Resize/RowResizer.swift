package import AlcedoCore

/// Makes a picture smaller or larger while its rows arrive, and hands the new rows on.
///
/// The pixels are those that ``ImageProcessors/Resize`` makes of the whole picture, to the bit, in every pixel format and alpha mode.
/// With a decoder in front and an encoder behind, no whole picture is ever in memory:
/// `decoder.decodeRows(data, options: options, into: resize.rows(into: encoder))`.
///
/// - Complexity: Time as ``ImageProcessors/Resize``. Memory is O(width × filter taps).
package final class RowResizer: PixelRowConsumer {
    private let resize: ImageProcessors.Resize
    private let next: any PixelRowConsumer
    /// nil when rows pass as they are.
    private var stage: RowResizerStage?

    /// Does what `resize` does, while rows arrive.
    package init(_ resize: ImageProcessors.Resize, next: any PixelRowConsumer) {
        self.resize = resize
        self.next = next
    }

    /// - Throws: `ImageProcessingError` as ``ImageProcessors/Resize/process(_:)``, or what the next consumer throws.
    package func begin(_ header: PixelRowHeader) throws {
        var resized = header
        resized.size = try resize.checkedSize(for: header.size)
        try PixelLimits.checkRows(of: header)
        try PixelLimits.checkRows(of: resized)
        stage = resized.size == header.size ? nil : RowResizerStage(header, to: resized, sampling: resize.sampling)
        try next.begin(resized)
    }

    package func consume(_ row: RawSpan) throws {
        guard let stage else { return try next.consume(row) }
        try stage.consume(row, next: next)
    }

    package func finish() throws { try next.finish() }
}

/// A resampler with the memory that rows need on their way in and out.
private final class RowResizerStage {
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
