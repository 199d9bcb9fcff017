import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct FileSizeLimitTests {
    /// An encoder whose files have 100 bytes, ten more for each hundredth of the quality, and those of the EXIF data.
    private struct Encoder: ImageEncoding {
        /// The quality in hundredths, or nil for an encoder without quality.
        var percent: Int?
        var exif = Data()
        var error: ImageEncodingError.Code?
        /// The quality of each encode.
        let qualities = Watched<[Int?]>([])

        var format: ImageFormat { .jpeg }

        func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
            qualities.update { $0.append(percent) }
            if let error { throw ImageEncodingError(error, "a test") }
            return Data(count: 100 + 10 * (percent ?? 0)) + exif
        }

        func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int { 5_000 }

        func embedding(_ metadata: ImageMetadata) -> Self {
            var encoder = self
            encoder.exif = metadata.exif ?? Data()
            return encoder
        }

        func limitingQuality(to quality: Double) -> Self? {
            guard let percent else { return nil }
            var encoder = self
            encoder.percent = min(percent, Int((quality * 100).rounded()))
            return encoder
        }
    }

    private let image = DecodedImage.gray(side: 2)

    @Test(arguments: [0, 1, 40, 99, 100])
    func `a file has the highest quality that fits, after at most eight encodes`(own: Int) throws {
        for limit in 100...1_110 {
            let encoder = Encoder(percent: own)

            let file = try encoder.limitingFileSize(to: limit).encode(image)

            #expect(file.count == 100 + 10 * min(own, (limit - 100) / 10), "\(limit)")
            #expect(encoder.qualities.value.count <= 8, "\(limit)")
        }
    }

    @Test func `a file that fits is encoded once`() throws {
        let encoder = Encoder(percent: 70)
        #expect(try encoder.limitingFileSize(to: 800).encode(image).count == 800)
        #expect(encoder.qualities.value == [70])
    }

    @Test(arguments: [(70, 99), (nil, 99), (nil, 0), (70, -1)] as [(Int?, Int)])
    func `an image that does not fit is an error`(percent: Int?, limit: Int) throws {
        let encoder = Encoder(percent: percent)

        let error = #expect(throws: ImageEncodingError.self) {
            try encoder.limitingFileSize(to: limit).encode(image)
        }

        #expect(error?.code == .exceedsFileSize)
        #expect(error?.message.contains("more than \(max(0, limit)) bytes") == true)
        #expect(percent == nil ? encoder.qualities.value.count == 1 : encoder.qualities.value.count <= 8)
        #expect(percent == nil || encoder.qualities.value.last == 0)
    }

    @Test func `another error ends the search`() throws {
        let encoder = Encoder(percent: 70, error: .outOfMemory)
        #expect(throws: ImageEncodingError(.outOfMemory, "a test")) {
            try encoder.limitingFileSize(to: 200).encode(image)
        }
        #expect(encoder.qualities.value.count == 1)
    }

    @Test func `metadata counts, and rows give the same file`() throws {
        let encoder = Encoder(percent: 70).limitingFileSize(to: 400).embedding(exif: Data(count: 100))
        let file = try encoder.encode(image)
        var output = Data()

        try image.sendRows(to: encoder.makeRowEncoder { $0.withUnsafeBytes { output.append(contentsOf: $0) } })

        #expect(file.count == 400)
        #expect(output == file)
        #expect(encoder.format == .jpeg)
    }

    @Test func `the best file counts as memory, and the limit of memory keeps its own error`() throws {
        let encoder = Encoder(percent: 70).limitingFileSize(to: 400)
        #expect(encoder.encodingByteCount(of: image.size, format: .gray8) == 5_400)
        #expect(
            Encoder(percent: 70).limitingFileSize(to: .max).encodingByteCount(of: image.size, format: .gray8) == 10_000)
        #expect(try encoder.encode(image, maximumByteCount: 400).count == 400)
        let error = #expect(throws: ImageEncodingError.self) { try encoder.encode(image, maximumByteCount: 399) }
        #expect(error?.code == .exceedsLimit)
    }

    @Test func `of two limits the smaller one applies`() throws {
        let encoder = Encoder(percent: 70)
        #expect(try encoder.limitingFileSize(to: 300).limitingFileSize(to: 250).encode(image).count == 250)
        #expect(try encoder.limitingFileSize(to: 250).limitingFileSize(to: 300).encode(image).count == 250)
    }
}
