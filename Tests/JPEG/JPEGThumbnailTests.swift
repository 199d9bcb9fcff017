import AlcedoCore
import AlcedoJPEG
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Thumbnails in EXIF data, written by the encoder and shown by previews.
@Suite struct JPEGThumbnailTests {
    private let decoder = JPEGDecoder()
    private let size = PixelSize(width: 240, height: 180)
    private let encoder = JPEGEncoder(quality: 95, embedsThumbnail: true)

    private var image: DecodedImage { .coordinates(size) }

    private func thumbnail(in file: Data) throws -> Data? {
        try decoder.inspect(file, limits: DecodingLimits()).metadata.exif.flatMap { ImageMetadata.thumbnail(in: $0) }
    }

    /// Returns the largest difference of a sample.
    private func difference(_ a: PixelBuffer, _ b: PixelBuffer) -> Int {
        a.size == b.size && a.format == b.format
            ? zip(a.tightBytes, b.tightBytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) } : 256
    }

    // MARK: Encoding

    @Test(arguments: [(240, 180, 120, 90), (1000, 10, 143, 2), (161, 400, 54, 134), (161, 160, 81, 80)])
    func `the encoder writes a thumbnail of at most 160 pixels per side`(
        width: Int, height: Int, expectedWidth: Int, expectedHeight: Int
    ) throws {
        let image = DecodedImage.coordinates(PixelSize(width: width, height: height))
        let file = try encoder.encode(image)

        let data = try #require(try thumbnail(in: file))

        #expect(try decoder.inspect(data).size == PixelSize(width: expectedWidth, height: expectedHeight))
        #expect(try decoder.inspect(data).metadata == ImageMetadata())
        #expect(data.count < 60_000)
        let plain = try JPEGEncoder(quality: 95).encode(image)
        #expect(plain.count < file.count - data.count)
        #expect(try decoder.decode(file).pixels == decoder.decode(plain).pixels)
    }

    @Test func `the thumbnail shows the image as it is stored`() throws {
        var turned = image
        turned.orientation = .right
        let file = try encoder.encode(turned)

        let pixels = try decoder.decode(#require(try thumbnail(in: file))).pixels

        #expect(try decoder.inspect(file).orientation == .right)
        for (x, y) in [(5, 5), (60, 80), (110, 9)] {
            let color = pixels.rgba(x, y)
            #expect(abs(Int(color[0]) - 2 * x) < 8)
            #expect(abs(Int(color[1]) - 2 * y) < 8)
            #expect(abs(Int(color[2]) - 128) < 8)
        }
    }

    @Test func `a small image has no thumbnail`() throws {
        let small = DecodedImage.coordinates(PixelSize(width: 160, height: 160))
        #expect(try encoder.encode(small) == JPEGEncoder(quality: 95).encode(small))
    }

    @Test(arguments: [false, true])
    func `rows give the same file, with gray and with several scans`(isProgressive: Bool) throws {
        let encoder = JPEGEncoder(quality: 80, isProgressive: isProgressive, embedsThumbnail: true)
        for image in [image, .gray(side: 200, level: 90)] {
            var output = Data()
            try image.sendRows(to: encoder.makeRowEncoder { $0.withUnsafeBytes { output.append(contentsOf: $0) } })
            #expect(try output == encoder.encode(image))
            let data = try #require(try thumbnail(in: output))
            #expect(try decoder.inspect(data).colorModel == (image.pixels.format.isGray ? .gray : .yCbCr))
        }
    }

    @Test func `kept EXIF has the new thumbnail instead of the old one, unless it is too long`() throws {
        let file = try encoder.embedding(exif: MadeEXIF.photo).encode(image)
        let exif = try #require(try decoder.inspect(file).metadata.exif)
        #expect(exif.range(of: MadeEXIF.artist) != nil)
        #expect(exif.range(of: MadeEXIF.preview) == nil)
        #expect(try decoder.inspect(#require(ImageMetadata.thumbnail(in: exif))).size.width == 120)

        let long = MadeEXIF.made(orientation: 1, size: size, hasPreview: false) + Data(count: 64_500)
        let full = try encoder.embedding(exif: long).encode(image)
        #expect(try decoder.inspect(full).metadata.exif == long)
    }

    @Test func `a lower quality keeps the thumbnail`() throws {
        let low = try #require(encoder.limitingQuality(to: 0.3)).encode(image)
        #expect(try thumbnail(in: low) != nil)
        #expect(try JPEGEncoder(quality: 30, embedsThumbnail: true).encode(image) == low)
        #expect(try #require(encoder.limitingQuality(to: 1)).quality == 95)
        #expect(try #require(encoder.limitingQuality(to: .nan)).quality == 0)
    }

    // MARK: Previews

    /// Appends a file up to the data of the first scan, and then in pieces. Returns the previews.
    private func previews(of file: Data, _ options: DecodingOptions = DecodingOptions(), pieces count: Int = 6) throws
        -> [ImagePreview]
    {
        let scan = try #require(JPEGEditor.data(in: file))
        let decoder = decoder.makeIncrementalDecoder(options: options)
        try decoder.append(file.prefix(scan.lowerBound))
        #expect(decoder.decodingByteCount != nil)
        var previews = [try decoder.preview()]
        let rest = file.count - scan.lowerBound
        for index in 0..<count {
            try decoder.append(
                file[scan.lowerBound + rest * index / count..<scan.lowerBound + rest * (index + 1) / count])
            previews.append(try decoder.preview())
        }
        #expect(try decoder.finish().pixels == self.decoder.decode(file, options: options).pixels)
        return previews.compactMap { $0 }
    }

    @Test func `the first preview is the enlarged thumbnail, and the next ones show it below the rows`() throws {
        let file = try encoder.encode(image)
        let whole = try decoder.decode(file).pixels

        let previews = try previews(of: file)

        #expect(previews.count > 3)
        #expect(previews.first?.rowCount == 0)
        #expect(previews.map(\.rowCount) == previews.map(\.rowCount).sorted())
        for preview in previews {
            #expect(preview.pass == 1)
            let pixels = preview.image.pixels
            #expect(pixels.alphaMode == .opaque)
            #expect(difference(pixels, whole) < 20)
            for y in 0..<preview.rowCount { #expect(pixels.rgba(17, y) == whole.rgba(17, y)) }
            #expect(!(0..<240).allSatisfy { pixels.rgba($0, 179) == whole.rgba($0, 179) })
        }
    }

    @Test func `the thumbnail precedes the scans of a progressive file`() throws {
        var encoder = encoder
        encoder.isProgressive = true
        let file = try encoder.encode(image)

        let previews = try previews(of: file, pieces: 20)

        #expect(previews.map(\.rowCount).first == 0)
        #expect(previews.dropFirst().allSatisfy { $0.rowCount == 180 })
        #expect(previews.count > 2)
        #expect(difference(previews[0].image.pixels, try decoder.decode(file).pixels) < 20)
    }

    @Test func `the thumbnail of a turned image is turned, and reduced images have a reduced one`() throws {
        var turned = image
        turned.orientation = .right
        let file = try encoder.encode(turned)

        let upright = try #require(try previews(of: file).first).image
        #expect(upright.size == PixelSize(width: 180, height: 240))
        #expect(difference(upright.pixels, try decoder.decode(file).pixels) < 20)

        let small = DecodingOptions(appliesOrientation: false, target: TargetSize(width: 60, height: 60))
        let reduced = try #require(try previews(of: file, small).first)
        #expect(reduced.rowCount == 0)
        #expect(reduced.image.size.width < 240)
        #expect(reduced.image.orientation == .right)
        #expect(difference(reduced.image.pixels, try decoder.decode(file, options: small).pixels) < 20)
    }

    @Test func `the preview of a gray image is gray`() throws {
        let gray = DecodedImage.gray(side: 200, level: 90)
        let file = try encoder.encode(gray)
        for format in [PixelFormat.gray8, .rgba8] {
            let preview = try #require(try previews(of: file, DecodingOptions(pixelFormat: format)).first)
            #expect(preview.rowCount == 0)
            #expect(preview.image.pixels.format == format)
            #expect(preview.image.pixels.tightBytes.prefix(3).allSatisfy { abs(Int($0) - 90) < 3 })
        }
    }

    /// Returns a file, by default that of the image, with another thumbnail.
    private func file(with thumbnail: Data, in plain: Data? = nil) throws -> Data {
        let exif = try #require(ImageMetadata.exif([], adding: thumbnail))
        let segment = JPEGEditor.segment(0xE1, Array("Exif\0\0".utf8) + exif)
        return JPEGEditor.inserting(segment, into: try plain ?? JPEGEncoder(quality: 95).encode(image))
    }

    /// Returns a file with a thumbnail of a size.
    private func file(withSize width: Int, _ height: Int) throws -> Data {
        let thumbnail = DecodedImage.coordinates(PixelSize(width: width, height: height))
        return try file(with: JPEGEncoder().encode(thumbnail))
    }

    @Test func `a thumbnail that does not show the image is not used`() throws {
        #expect(try previews(of: file(withSize: 80, 60)).first?.rowCount == 0)
        // With black bars, turned, and larger than the image.
        for (width, height) in [(160, 107), (80, 80), (60, 80), (320, 240)] {
            let previews = try previews(of: file(withSize: width, height))
            #expect(previews.allSatisfy { $0.rowCount > 0 && $0.image.pixels.rgba(9, 179) == [0, 0, 0, 0] })
            #expect(!previews.isEmpty)
        }
    }

    @Test func `a damaged thumbnail is not used`() throws {
        let thumbnail = try JPEGEncoder().encode(.coordinates(PixelSize(width: 80, height: 60)))
        let scan = try #require(JPEGEditor.data(in: thumbnail))
        var ended = thumbnail
        ended.replaceSubrange(scan.lowerBound + 20..<scan.lowerBound + 22, with: [0xFF, 0xD9])
        for damaged in [thumbnail.prefix(scan.lowerBound + 30), thumbnail.prefix(9), ended] {
            let previews = try previews(of: file(with: Data(damaged)))
            #expect(previews.allSatisfy { $0.rowCount > 0 })
            #expect(!previews.isEmpty)
        }
    }

    @Test func `a thumbnail with color is not used for the gray rows of an image`() throws {
        let thumbnail = try JPEGEncoder().encode(.coordinates(PixelSize(width: 40, height: 40)))
        let file = try file(with: thumbnail, in: JPEGEncoder().encode(.gray(side: 80)))
        #expect(try previews(of: file).first?.rowCount == 0)
        #expect(try previews(of: file, DecodingOptions(pixelFormat: .gray8)).allSatisfy { $0.rowCount > 0 })
    }

    @Test func `a truncated image is partial without its thumbnail`() throws {
        let file = try encoder.encode(image)
        let options = DecodingOptions(allowsPartial: true)
        let incremental = decoder.makeIncrementalDecoder(options: options)
        let part = file.prefix(file.count * 2 / 3)
        for start in stride(from: 0, to: part.count, by: 500) {
            try incremental.append(part[start..<min(part.count, start + 500)])
            _ = try incremental.preview()
        }

        let result = try incremental.finish()

        #expect(result.isPartial)
        #expect(result.pixels.rgba(9, 179) == [0, 0, 0, 0])
        #expect(try result.pixels == decoder.decode(Data(part), options: options).pixels)
    }
}
