#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import Foundation
    import TestSupport
    import Testing

    @Suite struct AVIFIncrementalTests {
        private let decoder = AVIFDecoder()

        @Test(arguments: [SampleFile.lossless, .sequence])
        func `the properties are known when the header has arrived`(file: SampleFile) throws {
            let data = try file.data()
            let end = try #require(data.range(of: Data("mdat".utf8))).lowerBound - 4
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.prefix(end - 1)))
            #expect(pieces.info == nil)
            #expect(pieces.decodingByteCount == nil)
            try pieces.append(Data(data[(end - 1)..<end]))

            #expect(try pieces.info == decoder.inspect(data, limits: DecodingLimits()))
            #expect(pieces.decodingByteCount != nil)
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

        @Test func `rows of tiles become visible as they arrive`() throws {
            let data = try SampleFile.grid.data()
            let whole = try decoder.decode(data, options: DecodingOptions()).pixels
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var rowCounts: [Int] = []

            for byte in data {
                try pieces.append(Data([byte]))
                guard let preview = try pieces.preview() else { continue }
                rowCounts.append(preview.rowCount)
                #expect(preview.image.pixels.rgba(3, 9) == whole.rgba(3, 9))
                if preview.rowCount < 100 { #expect(preview.image.pixels.rgba(3, 99) == [0, 0, 0, 0]) }
            }

            #expect(rowCounts == [64, 100])
            #expect(try pieces.finish().pixels == whole)
        }

        @Test func `cropped rows are not counted as visible`() throws {
            // The first row of tiles, of 64 rows, contains 14 rows of the crop, which begins at row 50.
            let crop = AVIFBuilder.crop(width: 128, height: 40, halfX: 0, halfY: 40)
            let data = try SampleFile.gridBuilder(properties: [crop]).data
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var rowCounts: [Int] = []

            for byte in data {
                try pieces.append(Data([byte]))
                if let preview = try pieces.preview() { rowCounts.append(preview.rowCount) }
            }

            #expect(rowCounts == [14, 40])
            #expect(try pieces.finish().size == PixelSize(width: 128, height: 40))
        }

        @Test func `rows of a rotated grid are counted as stored`() throws {
            let data = try SampleFile.gridBuilder(properties: [AVIFBuilder.rotation(1)]).data
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var rowCounts: [Int] = []

            for byte in data {
                try pieces.append(Data([byte]))
                guard let preview = try pieces.preview() else { continue }
                rowCounts.append(preview.rowCount)
                #expect(preview.image.size == PixelSize(width: 100, height: 128))
            }

            #expect(rowCounts == [64, 100])
        }

        @Test func `layers become visible one after another`() throws {
            // The frames of a sequence are the layers of an item.
            let file = try sequenceFile(frameCount: 2)
            let sizes = try CodedImage.box("stsz", in: file)
            let firstByteCount = sizes[20..<24].reduce(0) { $0 << 8 | Int($1) }
            let payload = Array(try CodedImage.box("mdat", in: file).dropFirst(8))
            let configuration = try CodedImage.box("av1C", in: file)
            let properties = [AVIFBuilder.extents(PixelSize(width: 21, height: 15)), configuration, AVIFBuilder.rgb]
            var builder = AVIFBuilder()
            builder.add("av01", payload, properties + AVIFBuilder.layers(firstByteCount: firstByteCount))
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
            var passes: [Int] = []

            for byte in builder.data {
                try pieces.append(Data([byte]))
                guard let preview = try pieces.preview() else { continue }
                passes.append(preview.pass)
                #expect(preview.rowCount == 15)
                #expect(try preview.image.pixels == sequenceFrame(preview.pass - 1))
            }

            #expect(passes == [1, 2])
        }

        @Test func `a still image is visible when its bytes are complete`() throws {
            let data = try SampleFile.alpha.data()
            let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())

            try pieces.append(Data(data.dropLast()))
            #expect(try pieces.preview() == nil)
            try pieces.append(Data(data.suffix(1)))
            let preview = try #require(try pieces.preview())

            #expect(try preview.image.pixels == pieces.finish().pixels)
        }

        @Test func `an image over the limit is refused when its header has arrived`() throws {
            let data = try SampleFile.lossless.data()
            let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 21 * 15 - 1))
            let pieces = decoder.makeIncrementalDecoder(options: options)
            let end = try #require(data.range(of: Data("mdat".utf8))).lowerBound

            let error = #expect(throws: ImageDecodingError.self) { try pieces.append(Data(data.prefix(end))) }

            #expect(error?.code == .exceedsLimit)
        }
    }
#endif
