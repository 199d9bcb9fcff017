import AlcedoCore
import AlcedoTesting
import Testing

/// The memory that is reserved for decoding and for the consumers of the rows.
@Suite struct RowMemoryTests {
    /// A reader whose decoding holds a number of bytes, and another one when it keeps all rows.
    private final class Reader: ImageReading {
        let header: ImageHeader
        private let byteCount: Int
        private let wholeByteCount: Int

        init(_ size: PixelSize, byteCount: Int, wholeByteCount: Int? = nil, orientation: ImageOrientation = .up) {
            header = ImageHeader(format: .png, size: size, orientation: orientation)
            self.byteCount = byteCount
            self.wholeByteCount = wholeByteCount ?? byteCount
        }

        func info() throws(ImageDecodingError) -> ImageInfo { ImageInfo(format: .png, size: header.size) }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            options.passesRows ? byteCount : wholeByteCount
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage { .gray(side: 1) }

        /// The bytes beside those of the decoder, for a consumer that holds the image.
        func consumerByteCount(_ options: DecodingOptions) throws -> Int {
            try decodingByteCount(options, into: PixelRowCollector()) - decodingByteCount(options)
        }
    }

    private let size = PixelSize(width: 4000, height: 2000)

    private func options(_ target: TargetSize?) -> DecodingOptions {
        var options = DecodingOptions(target: target)
        options.isFiltered = true
        return options
    }

    @Test func `the consumer of the rows counts with the size of the upright file`() throws {
        let whole = Reader(size, byteCount: 100, wholeByteCount: 4 * size.pixelCount)
        #expect(try whole.consumerByteCount(options(nil)) == 4 * size.pixelCount)
        #expect(try whole.consumerByteCount(options(TargetSize(width: 9, height: 9))) == 4 * size.pixelCount)

        let line = Reader(PixelSize(width: 4000, height: 1), byteCount: 100, orientation: .right)
        // Each row of the upright image is padded to 64 bytes.
        #expect(try line.consumerByteCount(options(nil)) == 64 * 4000)
        var stored = options(nil)
        stored.appliesOrientation = false
        #expect(try line.consumerByteCount(stored) == 4 * 4000)
    }

    @Test func `the consumer of a decoder that reduces the image counts with no more pixels than it can hold`() throws {
        let reduced = Reader(size, byteCount: 100, wholeByteCount: 4 * 500 * 250)
        let byteCount = try reduced.consumerByteCount(options(TargetSize(width: 9, height: 9)))
        // At least one byte a pixel.
        #expect(byteCount >= 4 * 1000 * 500)
        #expect(byteCount < 4 * 1024 * 512)
    }

    @Test func `the consumer of a drawing counts with the size at which it is drawn`() throws {
        let target = TargetSize(width: 400, height: 400)
        let drawing = Reader(PixelSize(width: 20, height: 20), byteCount: 8 * 400 * 400)
        #expect(try drawing.consumerByteCount(options(target)) == 4 * 400 * 400)
        let icon = Reader(PixelSize(width: 20, height: 20), byteCount: 4 * 400)
        #expect(try icon.consumerByteCount(options(target)) == 128 * 20)
    }

    @Test func `impossible sizes are the largest number, and no memory is added without a consumer`() throws {
        let sides = [PixelSize(width: .max, height: .max), PixelSize(width: 1 << 40, height: 1)]
        for size in sides {
            #expect(try Reader(size, byteCount: 5).decodingByteCount(options(nil), into: PixelRowCollector()) == .max)
            #expect(try Reader(size, byteCount: 5).decodingByteCount(options(nil), into: nil) == 5)
        }
        let full = Reader(PixelSize(width: 20, height: 20), byteCount: .max)
        #expect(try full.decodingByteCount(options(nil), into: PixelRowCollector()) == .max)
    }
}
