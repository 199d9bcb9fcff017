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

        /// Returns a file of 128 x 128 pixels in four tiles, with another item as its thumbnail, which is stored before
        /// the tiles.
        private func file(
            thumbnail size: PixelSize = PixelSize(width: 64, height: 64), properties: [[UInt8]] = [],
            _ thumbnailProperties: [[UInt8]] = [], isBroken: Bool = false
        ) throws -> Data {
            var builder = AVIFBuilder()
            let whole = try smoothPixels(PixelSize(width: 128, height: 128))
            builder.addGrid(
                columns: 2, rows: 2, size: whole.size, properties: [AVIFBuilder.rgb] + properties)
            let small = try CodedImage(smoothPixels(size))
            builder.add(
                "av01", isBroken ? [UInt8](repeating: 0, count: small.payload.count) : small.payload,
                [AVIFBuilder.extents(size), small.configuration, AVIFBuilder.rgb] + thumbnailProperties)
            let tiles = try [(0, 0), (64, 0), (0, 64), (64, 64)].map { x, y in
                builder.add(
                    try CodedImage(cropped(whole, x: x, y: y, width: 64, height: 64)), [AVIFBuilder.rgb])
            }
            builder.refer("dimg", from: 1, to: tiles)
            builder.refer("thmb", from: 2, to: [1])
            return builder.data
        }

        @Test(arguments: [0, 1]) func `a thumbnail is shown before the image, and below its rows`(turns: Int) throws {
            let data = try file(properties: [AVIFBuilder.rotation(turns)], [AVIFBuilder.rotation(turns)])
            let size = PixelSize(width: 64, height: 64)
            let small = try smoothPixels(size).upright(from: turns == 0 ? .up : .left)

            let previews = try decoder.previews(of: data, inPiecesOf: 20)

            let first = try #require(previews.first)
            #expect(first.rowCount == 0)
            #expect(first.image.size == PixelSize(width: 128, height: 128))
            #expect(first.image.pixels.alphaMode == .opaque)
            for (x, y) in [(7, 9), (30, 50), (60, 3)] {
                for (sample, expected) in zip(first.image.pixels.rgba(2 * x, 2 * y), small.rgba(x, y)) {
                    #expect(abs(Int(sample) - Int(expected)) <= 3)
                }
            }
            #expect(previews.map(\.rowCount) == [0, 64, 128])
            // The last row, which has not arrived.
            let (x, y) = turns == 0 ? (50, 127) : (127, 50)
            #expect(previews[1].image.pixels.rgba(x, y) == first.image.pixels.rgba(x, y))
        }

        @Test func `a reduced preview has a reduced thumbnail`() throws {
            let options = DecodingOptions(target: TargetSize(width: 32, height: 32))
            let preview = try #require(try decoder.previews(of: file(), inPiecesOf: 20, options).first)
            #expect(preview.rowCount == 0)
            #expect(preview.image.size == PixelSize(width: 32, height: 32))
        }

        @Test func `a thumbnail that does not show the image is not used`() throws {
            let unusable = [
                try file([AVIFBuilder.rotation(1)]), try file(properties: [AVIFBuilder.mirror(1)]),
                try file(isBroken: true), try file(thumbnail: PixelSize(width: 64, height: 48)),
                try file(thumbnail: PixelSize(width: 136, height: 136)),
            ]
            for (index, data) in unusable.enumerated() {
                let previews = try decoder.previews(of: data, inPiecesOf: 20)
                #expect(previews.map(\.rowCount) == [64, 128], "\(index)")
                #expect(previews.first?.image.pixels.rgba(3, 127) == [0, 0, 0, 0], "\(index)")
            }
        }

        @Test func `a thumbnail with a changed byte in its boxes does not change the image`() throws {
            let data = try file()
            let end = try #require(data.range(of: Data("mdat".utf8))).lowerBound
            for name in ["pitm", "iref", "iloc"] {
                let start = try #require(data.range(of: Data(name.utf8))).upperBound
                for offset in start..<min(end, start + 60) {
                    var changed = data
                    changed[offset] ^= 0xFF
                    let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
                    let whole = try? decoder.decode(changed)
                    // A damaged file may fail at once.
                    for piece in [changed.prefix(end + 400), changed.dropFirst(end + 400)] {
                        _ = try? pieces.append(piece)
                        _ = try? pieces.preview()
                    }
                    if let image = try? pieces.finish() { #expect(image.pixels == whole?.pixels) }
                }
            }
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
