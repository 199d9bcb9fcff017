#if HEIF
    import AlcedoCore
    import AlcedoHEIF
    import Foundation
    import TestSupport
    import Testing

    @Suite struct HEIFIncrementalTests {
        private let decoder = CodecRegistry.Entry.heifInProcess.decoder

        @Test func `the properties are known when the header has arrived`() throws {
            let data = try SampleFile.half.data()
            let end = try #require(data.range(of: Data("mdat".utf8))).lowerBound - 4
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.prefix(end - 1)))
            #expect(pieces.info == nil)
            #expect(pieces.decodingByteCount == nil)
            // The header is tried again after some more bytes.
            try pieces.append(Data(data[(end - 1)..<(end + 300)]))

            #expect(try pieces.info == decoder.inspect(data, limits: DecodingLimits()))
            #expect(pieces.decodingByteCount != nil)
            #expect(try pieces.preview() == nil)
        }

        @Test func `metadata that is stored after the pixels is known at the end`() throws {
            let data = try SampleFile.metadata.data()
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.dropLast()))
            let early = try #require(pieces.info)
            try pieces.append(Data(data.suffix(1)))
            _ = try pieces.finish()

            #expect(early.metadata.exif == nil)
            #expect(pieces.info?.metadata.exif == Data(ImageOrientation.right.exif))
            #expect(try pieces.info == decoder.inspect(data, limits: DecodingLimits()))
        }

        @Test func `rows of tiles become visible when twice as many have arrived`() throws {
            let size = PixelSize(width: 64, height: 320)
            let data = try SampleFile.grid("half.heic", columns: 1, rows: 5, size)
            let whole = try decoder.decode(data, options: DecodingOptions()).pixels
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var rowCounts: [Int] = []

            for start in stride(from: 0, to: data.count, by: 100) {
                try pieces.append(Data(data[start..<min(data.count, start + 100)]))
                guard let preview = try pieces.preview() else { continue }
                rowCounts.append(preview.rowCount)
                #expect(preview.image.pixels.rgba(3, 9) == whole.rgba(3, 9))
                #expect(preview.image.pixels.rgba(3, 319) == [0, 0, 0, 0])
            }

            // The last row of a tile needs the color of the next tile.
            #expect(rowCounts == [63, 127, 255])
            #expect(try pieces.finish().pixels == whole)
        }

        @Test func `an image over the limit is refused when its header has arrived`() throws {
            let data = try SampleFile.half.data()
            let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 64 * 64 - 1))
            let pieces = decoder.makeIncrementalDecoder(options: options)
            let end = try #require(data.range(of: Data("mdat".utf8))).lowerBound

            let error = #expect(throws: ImageDecodingError.self) { try pieces.append(Data(data.prefix(end))) }

            #expect(error?.code == .exceedsLimit)
        }
    }
#endif
