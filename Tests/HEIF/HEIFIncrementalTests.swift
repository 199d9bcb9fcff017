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

        /// Returns a file of 128 x 128 pixels in four tiles, with another item as its thumbnail, which is stored before
        /// the tiles.
        private func file(
            properties: [[UInt8]] = [], thumbnail name: String = "half.heic", _ thumbnailProperties: [[UInt8]] = [],
            isBroken: Bool = false
        ) throws -> Data {
            let picture = try CodedPicture("half.heic")
            let other = try CodedPicture(name)
            var builder = HEIFBuilder()
            builder.addGrid(columns: 2, rows: 2, size: PixelSize(width: 128, height: 128), properties: properties)
            let payload = isBroken ? [UInt8](repeating: 0, count: other.payload.count) : other.payload
            builder.add(
                "hvc1", payload, [HEIFBuilder.extents(other.size), other.configuration] + thumbnailProperties)
            let tiles = (0..<4).map { _ in builder.add(picture) }
            builder.refer("dimg", from: 1, to: tiles)
            builder.refer("thmb", from: 2, to: [1])
            return builder.data
        }

        @Test(arguments: [0, 1]) func `a thumbnail is shown before the image, and below its rows`(turns: Int) throws {
            let data = try file(
                properties: [HEIFBuilder.rotation(turns)], [HEIFBuilder.rotation(turns)])
            let small = try decoder.decode(SampleFile.half.data()).pixels.upright(from: turns == 0 ? .up : .left)

            let previews = try decoder.previews(of: data, inPiecesOf: 50)

            let first = try #require(previews.first)
            #expect(first.rowCount == 0)
            #expect(first.image.size == PixelSize(width: 128, height: 128))
            #expect(first.image.pixels.alphaMode == .opaque)
            for (x, y) in [(7, 9), (30, 50), (60, 3)] {
                // The center of a pixel of the thumbnail lies between two pixels of the image.
                let pair = zip(first.image.pixels.rgba(2 * x, 2 * y), first.image.pixels.rgba(2 * x + 1, 2 * y + 1))
                for ((a, b), expected) in zip(pair, small.rgba(x, y)) {
                    #expect(abs((Int(a) + Int(b)) / 2 - Int(expected)) <= 4)
                }
            }
            #expect(previews.map(\.rowCount) == [0, 63, 128])
            // The last row, which has not arrived.
            let (x, y) = turns == 0 ? (50, 127) : (127, 50)
            #expect(previews[1].image.pixels.rgba(x, y) == first.image.pixels.rgba(x, y))
        }

        @Test func `a reduced preview has a reduced thumbnail`() throws {
            let options = DecodingOptions(target: TargetSize(width: 32, height: 32))
            let preview = try #require(try decoder.previews(of: file(), inPiecesOf: 50, options).first)
            #expect(preview.rowCount == 0)
            #expect(preview.image.size == PixelSize(width: 32, height: 32))
        }

        @Test func `a thumbnail that does not show the image is not used`() throws {
            let unusable = [
                try file([HEIFBuilder.rotation(1)]), try file(properties: [HEIFBuilder.mirror(1)]),
                try file(thumbnail: "gray.heic"), try file(isBroken: true),
                try file([HEIFBuilder.crop(width: 40, height: 64, halfX: 0, halfY: 0)]),
            ]
            for (index, data) in unusable.enumerated() {
                let previews = try decoder.previews(of: data, inPiecesOf: 50)
                #expect(previews.map(\.rowCount) == [63, 128], "\(index)")
                #expect(previews.first?.image.pixels.rgba(3, 127) == [0, 0, 0, 0], "\(index)")
            }
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
