/// A consumer that collects rows in a buffer. It can be reused for the next image after ``finish()``.
package final class PixelRowCollector: PixelRowConsumer {
    private var header: PixelRowHeader?
    private var buffer: PixelBuffer?
    private var nextRow = 0

    /// The collected image; nil until ``finish()`` succeeds, and again after ``begin(_:)``.
    package private(set) var image: DecodedImage?

    /// Creates a collector without rows.
    package init() {}

    /// Returns the image whose rows `send` passes to a collector, directly or through consumers that throw only errors
    /// of decoding. Returns nil if the collector is not finished.
    package static func image(
        _ send: (PixelRowCollector) throws -> Void
    ) throws(ImageDecodingError) -> DecodedImage? {
        let collector = PixelRowCollector()
        do { try send(collector) } catch {
            // The type of a consumer permits any error, so the compiler does not know that there are no others here.
            throw error as? ImageDecodingError ?? ImageDecodingError(.decoderFailed, "\(error)")
        }
        return collector.image
    }

    /// Allocates the buffer.
    ///
    /// - Throws: ``ImageDecodingError`` `outOfMemory` when the buffer cannot be allocated.
    package func begin(_ header: PixelRowHeader) throws {
        guard let buffer = PixelBuffer(size: header.size, format: header.format, alphaMode: header.alphaMode) else {
            throw ImageDecodingError.noMemory(for: header.size)
        }
        self.header = header
        self.buffer = buffer
        nextRow = 0
        image = nil
    }

    /// Copies a row into the buffer.
    ///
    /// - Throws: ``ImageDecodingError`` `corrupt` when the image already has all its rows.
    package func consume(_ row: RawSpan) throws {
        guard let stride = buffer?.bytesPerRow, let rows = buffer?.height, nextRow < rows else {
            throw ImageDecodingError(.corrupt, "the image has more rows than its height")
        }
        buffer?.withUnsafeMutableBytes { memory in
            let target = UnsafeMutableRawBufferPointer(rebasing: memory[nextRow * stride..<(nextRow + 1) * stride])
            row.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(stride))) }
        }
        nextRow += 1
    }

    /// Completes the image.
    ///
    /// - Throws: ``ImageDecodingError`` `truncated` when rows are missing.
    package func finish() throws {
        guard let header, let buffer, nextRow == buffer.height else {
            throw ImageDecodingError(.truncated, "the image has fewer rows than its height")
        }
        image = DecodedImage(pixels: buffer, colorProfile: header.colorProfile, orientation: header.orientation)
        image?.hasInks = header.hasInks
        image?.storedModel = header.storedModel
        image?.reduction = header.reduction
        self.buffer = nil
    }

    /// Returns the bytes of the image.
    package func byteCount(for header: PixelRowHeader) -> Int {
        PixelBuffer.byteCount(size: header.size, format: header.format) ?? .max
    }
}
