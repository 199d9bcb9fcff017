#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct AVIFDamageTests {
        private let decoder = AVIFDecoder()

        // An emulated processor takes a quarter of an hour.
        @Test(.timeLimit(.minutes(60)), arguments: SampleFile.allCases, DecoderConformance.checks)
        func `the decoder passes each conformance check`(
            file: SampleFile, check: DecoderConformance.Check
        ) async throws {
            let data = try file.data()
            try await check { [decoder] _ in (decoder, data) }
        }

        @Test func `random bytes with the brand of the format are an error`() {
            var random = SeededGenerator(seed: 3)
            for count in 0..<200 {
                let noise = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                let file = Data(AVIFBuilder.box("ftyp", Array("avif\0\0\0\0avifmif1".utf8))) + noise
                #expect(decoder.errorCode(file) != nil)
            }
        }

        @Test func `a size over the limit is refused before pixels are read`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 8, height: 8)))
            for size in [PixelSize(width: 65_536, height: 65_536), PixelSize(width: 20_000, height: 10_000)] {
                var builder = AVIFBuilder()
                builder.add("av01", image.payload, [AVIFBuilder.extents(size), image.configuration])
                #expect(decoder.errorCode(builder.data) == .exceedsLimit)
            }
        }

        @Test func `a coded image larger than its declared size does not exceed the limit`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 300, height: 300)))
            var builder = AVIFBuilder()
            let small = PixelSize(width: 20, height: 20)
            builder.add("av01", image.payload, [AVIFBuilder.extents(small), image.configuration])

            #expect(decoder.errorCode(builder.data, limits: DecodingLimits(maximumPixelCount: 400)) != nil)
        }

        @Test func `a coded image that is much larger than its declared size is corrupt`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 300, height: 300)))
            var builder = AVIFBuilder()
            let small = PixelSize(width: 20, height: 20)
            builder.add("av01", image.payload, [AVIFBuilder.extents(small), image.configuration])

            // The reported memory for decoding is that of the declared size.
            #expect(decoder.errorCode(builder.data) == .corrupt)
        }

        @Test func `a tile that is much larger than its declared size is corrupt`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 500, height: 500)))
            let size = PixelSize(width: 400, height: 400)
            func grid(_ count: Int, _ tileSize: PixelSize) -> Data {
                AVIFBuilder.grid(columns: count, rows: count, size, of: image, tileSize)
            }

            // The coded image would be allowed for an image of the size of the grid.
            #expect(decoder.errorCode(grid(2, PixelSize(width: 200, height: 200))) == .corrupt)
            #expect(decoder.errorCode(grid(1, image.size)) == nil)
        }

        @Test func `a grid of grids exceeds a limit`() throws {
            let size = PixelSize(width: 64, height: 64)
            var builder = AVIFBuilder()
            builder.addGrid(columns: 1, rows: 1, size: size, properties: [AVIFBuilder.rgb])
            builder.addGrid(columns: 1, rows: 1, size: size, properties: [AVIFBuilder.rgb])
            builder.add(try CodedImage(samplePixels(size)), [AVIFBuilder.rgb])
            builder.refer("dimg", from: 1, to: [2])
            builder.refer("dimg", from: 2, to: [3])

            #expect(decoder.errorCode(builder.data) == .exceedsLimit)
        }

        @Test func `tiles that take far more memory than the image are refused`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 8, height: 8)))
            let size = PixelSize(width: 9_000, height: 9_000)
            func errorCode(tileSize: PixelSize) -> ImageDecodingError.Code? {
                let data = AVIFBuilder.grid(columns: 8, rows: 5, size, of: image, tileSize)
                do throws(ImageDecodingError) {
                    _ = try decoder.inspect(data, limits: DecodingLimits())
                    return nil
                } catch {
                    return error.code
                }
            }

            #expect(errorCode(tileSize: size) == .exceedsLimit)
            #expect(errorCode(tileSize: PixelSize(width: 1_125, height: 1_800)) == nil)
        }

        @Test(arguments: [false, true])
        func `extents that take no bytes are refused before they are listed`(haveIndices: Bool) throws {
            var builder = AVIFBuilder()
            builder.add(try CodedImage(samplePixels(PixelSize(width: 8, height: 8))))
            var data = builder.data
            let table = try #require(data.range(of: Data("iloc".utf8))).upperBound
            // The version, the sizes of offsets, lengths and indices, and the only item with its number of extents.
            // libavif does not read the indices.
            data[table] = haveIndices ? 1 : 0
            data.replaceSubrange(table + 4..<table + 6, with: [0, haveIndices ? 15 : 0])
            let item: [UInt8] = [0, 1] + (haveIndices ? [0, 0] : []) + [0, 0, 0xFF, 0xFF]
            data.replaceSubrange(table + 8..<table + 8 + item.count, with: item)

            #expect(decoder.errorCode(data) == .exceedsLimit)
        }

        @Test func `more tracks than the limit are refused`() {
            let head = AVIFBuilder.box("ftyp", Array("avis\0\0\0\0avismif1".utf8))
            let tracks = (0..<2_049).flatMap { _ in AVIFBuilder.box("trak", []) }

            #expect(decoder.errorCode(Data(head + AVIFBuilder.box("moov", tracks))) == .exceedsLimit)
        }

        @Test func `sample descriptions that are read again and again are refused`() {
            let head = AVIFBuilder.box("ftyp", Array("avis\0\0\0\0avismif1".utf8))
            let descriptions = (0..<600).flatMap { _ in AVIFBuilder.box("av01", []) }
            let table = AVIFBuilder.box("stsd", [0, 0, 0, 0] + AVIFBuilder.number(600, 4) + descriptions)
            let media = AVIFBuilder.box("mdia", AVIFBuilder.box("minf", AVIFBuilder.box("stbl", table)))

            let file = head + AVIFBuilder.box("moov", AVIFBuilder.box("trak", media))

            #expect(decoder.errorCode(Data(file)) == .exceedsLimit)
        }

        @Test func `more runs of durations than frames allowed are refused`() throws {
            var data = try sequenceFile(frameCount: 4)
            let table = try #require(data.range(of: Data("stts".utf8))).upperBound
            data.replaceSubrange(table + 4..<table + 8, with: [0, 1, 0, 0])

            #expect(decoder.errorCode(data) == .exceedsLimit)
        }

        @Test func `more coded items than the limit are refused`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 8, height: 8)))
            func file(_ count: Int) -> Data {
                var builder = AVIFBuilder()
                builder.add(image, [AVIFBuilder.rgb])
                for _ in 1..<count { builder.add("av01", []) }
                return builder.data
            }

            #expect(decoder.errorCode(file(1_024)) == nil)
            #expect(decoder.errorCode(file(1_025)) == .exceedsLimit)
        }

        @Test func `frames are decoded only if all of them together are within the limit`() throws {
            let data = try sequenceFile(frameCount: 4)
            let total = try 4 * decoder.inspect(data, limits: DecodingLimits()).size.pixelCount

            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total)) == nil)
            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total - 1)) == .exceedsLimit)
            // The first frame alone is one image.
            let options = DecodingOptions(limits: DecodingLimits(maximumTotalPixelCount: 1), includesAnimation: false)
            #expect(throws: Never.self) { try decoder.decode(data, options: options) }
        }

        @Test func `more frames than the limit are refused`() throws {
            let data = try sequenceFile(frameCount: 4)

            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumFrameCount: 3)) == .exceedsLimit)
            #expect(decoder.errorCode(data, limits: DecodingLimits(maximumFrameCount: 4)) == nil)
        }

        @Test func `damaged metadata does not prevent decoding`() throws {
            let pixels = try samplePixels(PixelSize(width: 16, height: 8))
            var builder = AVIFBuilder()
            builder.add(try CodedImage(pixels), [AVIFBuilder.rgb])
            builder.add("Exif", [0xFF])
            builder.refer("cdsc", from: 2, to: [1])

            let image = try decoder.decode(builder.data, options: DecodingOptions())
            #expect(image.pixels == pixels)
            #expect(image.damage?.kind == .harmless)
        }

        @Test func `bytes after the file are ignored`() throws {
            let data = try SampleFile.lossless.data()

            for count in [1, 7, 8, 40] {
                #expect(decoder.errorCode(data + Data(repeating: 0x20, count: count)) == nil, "\(count) bytes")
            }
        }

        @Test func `a file without a brand of the format is corrupt`() throws {
            var builder = AVIFBuilder()
            builder.add(try CodedImage(samplePixels(PixelSize(width: 8, height: 8))))
            builder.brands = ["heic"]

            #expect(decoder.errorCode(builder.data) == .corrupt)
            #expect(decoder.errorCode(Data("no picture at all".utf8)) == .corrupt)
            builder.brands = ["avif"]
            #expect(decoder.errorCode(builder.data) == nil)
            #expect(decoder.errorCode(Data(AVIFBuilder.box("free", [])) + builder.data) == .corrupt)
        }

        @Test func `a truncated grid gives the rows of its complete tiles`() throws {
            let data = try SampleFile.grid.data()
            let cut = Data(data.dropLast(10))
            let whole = try decoder.decode(data, options: DecodingOptions()).pixels

            let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

            #expect(image.partialError?.code == .truncated)
            #expect(image.size == whole.size)
            #expect(image.pixels.alphaMode == .straight)
            #expect(image.pixels.rgba(127, 63) == whole.rgba(127, 63))
            #expect(image.pixels.rgba(5, 64) == [0, 0, 0, 0])
            #expect(decoder.errorCode(cut) == .truncated)
        }

        @Test func `a truncated sequence gives its complete frames`() throws {
            let data = try sequenceFile(frameCount: 4)
            let cut = Data(data.dropLast(1))

            let image = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.error.code == .truncated)
            let frames = try #require(image.frames)
            #expect(frames.frameCount == 3)
            #expect(try frames.frame(at: 2) == sequenceFrame(2))
            #expect(decoder.errorCode(Data(data.prefix(data.count / 4))) != nil)
        }

        @Test(arguments: DamageTolerance.allCases)
        func `the sequence ends before a later frame that cannot be decoded`(tolerance: DamageTolerance) throws {
            var data = try sequenceFile(frameCount: 4)
            // The last frames are at the end of the file.
            for index in data.count * 9 / 10..<data.count { data[index] = 0xFF }

            let image = try decoder.decode(data, options: DecodingOptions(tolerance: tolerance))
            let frames = try #require(image.frames)
            var count = 0
            while count < frames.frameCount, let frame = try? frames.frame(at: count) {
                #expect(try frame == sequenceFrame(count))
                count += 1
            }

            #expect(count > 0)
            #expect(count < 4)
            #expect(frames.frameCount == count)
            #expect(frames.damage?.kind == .harmless)
            #expect(throws: ImageDecodingError.self) { try frames.frame(at: 3) }
            #expect(try frames.frame(at: 0) == sequenceFrame(0))
        }

        @Test func `a missing end of the file after the pixels is harmless`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 8, height: 8)))
            var builder = AVIFBuilder()
            builder.add(image, [AVIFBuilder.rgb])
            builder.add("free", [UInt8](repeating: 7, count: 50))
            let whole = try decoder.decode(builder.data, options: DecodingOptions())
            let cut = Data(builder.data.dropLast(20))

            let decoded = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))

            #expect(decoded.pixels == whole.pixels)
            #expect(decoded.damage?.kind == .harmless)
            #expect(whole.damage == nil)
            try DecoderChecks(decoder).checkRows(cut)
            try DecoderChecks(decoder).checkPieces(cut)
        }

        @Test(arguments: ["payload", "configuration", "size", "offset", "end", "length"])
        func `damaged alpha makes the image opaque`(part: String) throws {
            let size = PixelSize(width: 64, height: 64)
            let image = try CodedImage(samplePixels(size))
            let gray = try CodedImage(grayPixels(size))
            var builder = AVIFBuilder()
            builder.add(image, [AVIFBuilder.rgb])
            let plain = try decoder.decode(builder.data, options: DecodingOptions()).pixels
            let spoiled = gray.payload.prefix(12) + gray.payload.dropFirst(12).map { $0 ^ 0x5A }
            builder.add(
                "av01", part == "payload" ? Array(spoiled) : gray.payload,
                [AVIFBuilder.extents(part == "size" ? PixelSize(width: 32, height: 16) : size)]
                    + (part == "configuration" ? [] : [gray.configuration]) + [AVIFBuilder.alpha])
            builder.refer("auxl", from: 2, to: [1])
            var file = builder.data
            // The second of the locations, of 14 bytes each.
            let location = try #require(file.range(of: Data("iloc".utf8))).upperBound + 8 + 14
            switch part {
            case "offset": file.replaceSubrange(location + 6..<location + 10, with: AVIFBuilder.number(99_999_999, 4))
            case "end": file.replaceSubrange(location + 10..<location + 14, with: AVIFBuilder.number(99_999_999, 4))
            case "length": file.replaceSubrange(location + 10..<location + 14, with: [0, 0, 0, 0])
            default: break
            }

            let decoded = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

            #expect(decoded.pixels == plain)
            #expect(decoded.pixels.alphaMode == .opaque)
            #expect(decoded.damage?.kind == .harmless)
            try DecoderChecks(decoder).checkRows(file)
            try DecoderChecks(decoder).checkPieces(file)
        }

        @Test(arguments: ["gain map", "color"])
        func `an item outside of the file is reported, or an error if it is the image`(item: String) throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 16, height: 16)))
            var builder = AVIFBuilder()
            builder.add(image, [AVIFBuilder.rgb])
            builder.add(image)
            var file = builder.data
            let whole = try decoder.decode(file, options: DecodingOptions())
            let index = item == "color" ? 0 : 1
            let location = try #require(file.range(of: Data("iloc".utf8))).upperBound + 8 + 14 * index
            file.replaceSubrange(location + 6..<location + 10, with: AVIFBuilder.number(99_999_999, 4))

            #expect(whole.damage == nil)
            guard item == "gain map" else {
                #expect(decoder.errorCode(file) == .truncated)
                return
            }
            let decoded = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))
            #expect(decoded.pixels == whole.pixels)
            #expect(decoded.damage?.kind == .harmless)
            try DecoderChecks(decoder).checkRows(file)
        }
    }
#endif
