import AlcedoCore

/// A processor that exchanges red and blue, of whole images and of rows.
struct PlugInProcessor: ImageProcessing {
    let identifier = "plug-in.red-blue"

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        guard !image.hasInks else { throw ImageProcessingError(.unsupportedFormat, "the image has inks") }
        var image = image
        image.frames = nil
        image.storedModel = nil
        let (format, width) = (image.pixels.format, image.pixels.usedBytesPerRow)
        let (height, bytesPerRow) = (image.pixels.height, image.pixels.bytesPerRow)
        image.pixels.withUnsafeMutableBytes { memory in
            for y in 0..<height { Self.exchange(in: memory, y * bytesPerRow..<y * bytesPerRow + width, format) }
        }
        return image
    }

    func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { Rows(next: next) }

    private static func exchange(in bytes: UnsafeMutableRawBufferPointer, _ row: Range<Int>, _ format: PixelFormat) {
        guard !format.isGray else { return }
        let sampleByteCount = format.isDeep ? 2 : 1
        for pixel in stride(from: row.lowerBound, to: row.upperBound, by: format.bytesPerPixel) {
            for byte in pixel..<pixel + sampleByteCount { bytes.swapAt(byte, byte + 2 * sampleByteCount) }
        }
    }

    private final class Rows: PixelRowConsumer {
        private let next: any PixelRowConsumer
        private var format = PixelFormat.rgba8

        init(next: any PixelRowConsumer) { self.next = next }

        func begin(_ header: PixelRowHeader) throws {
            guard !header.hasInks else { throw ImageProcessingError(.unsupportedFormat, "the image has inks") }
            format = header.format
            var header = header
            header.storedModel = nil
            try next.begin(header)
        }

        func consume(_ row: RawSpan) throws {
            var bytes = row.withUnsafeBytes { Array($0) }
            bytes.withUnsafeMutableBytes { PlugInProcessor.exchange(in: $0, $0.indices, format) }
            try next.consume(bytes.span.bytes)
        }

        func finish() throws { try next.finish() }

        func byteCount(for header: PixelRowHeader) -> Int { header.bytesPerRow + next.byteCount(for: header) }
    }
}
