/// Collects rows in a buffer. May be used for one picture after another.
package final class PixelRowCollector: PixelRowConsumer {
    private var header: PixelRowHeader?
    private var buffer: PixelBuffer?
    private var nextRow = 0

    /// The picture, once it is finished.
    package private(set) var image: DecodedImage?

    /// A collector without rows.
    package init() {}

    /// - Throws: ``ImageDecodingError`` `outOfMemory` when there is no such buffer.
    package func begin(_ header: PixelRowHeader) throws {
        guard let buffer = PixelBuffer(size: header.size, format: header.format, alphaMode: header.alphaMode) else {
            throw ImageDecodingError.noMemory(for: header.size)
        }
        self.header = header
        self.buffer = buffer
        nextRow = 0
        image = nil
    }

    /// - Throws: ``ImageDecodingError`` `corrupt` for a row too many.
    package func consume(_ row: RawSpan) throws {
        guard let stride = buffer?.bytesPerRow, let rows = buffer?.height, nextRow < rows else {
            throw ImageDecodingError(.corrupt, "there are more rows than the picture is high")
        }
        buffer?.withUnsafeMutableBytes { memory in
            let target = UnsafeMutableRawBufferPointer(rebasing: memory[nextRow * stride..<(nextRow + 1) * stride])
            row.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(stride))) }
        }
        nextRow += 1
    }

    /// - Throws: ``ImageDecodingError`` `truncated` when rows are missing.
    package func finish() throws {
        guard let header, let buffer, nextRow == buffer.height else {
            throw ImageDecodingError(.truncated, "there are fewer rows than the picture is high")
        }
        image = DecodedImage(pixels: buffer, colorProfile: header.colorProfile, orientation: header.orientation)
        self.buffer = nil
    }
}
