#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct AVIFDecoderTests {
        private let decoder = AVIFDecoder()

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test(arguments: [
            (SampleFile.lossless, ColorModel.rgb, false, 8), (.alpha, .rgba, true, 8), (.subsampled, .yCbCr, false, 8),
            (.deep, .rgb, false, 12), (.gray, .gray, false, 8),
        ])
        func `inspection returns size, depth, color model and alpha`(
            file: SampleFile, model: ColorModel, hasAlpha: Bool, depth: Int
        ) throws {
            let info = try decoder.inspect(file.data(), limits: DecodingLimits())

            #expect(info.format == .avif)
            #expect(info.size == PixelSize(width: 21, height: 15))
            #expect(info.hasAlpha == hasAlpha)
            #expect(info.bitDepth == depth)
            #expect(info.colorModel == model)
            #expect(info.frameCount == 1)
            #expect(info.orientation == .up)
            #expect(info.metadata.exif == nil)
        }

        @Test
        func `a file is parsed once for all that a load asks`() throws {
            #expect(try decoder.parseCounts(SampleFile.lossless.data()) == [1, 1])
        }

        @Test func `the properties are known from the first bytes`() throws {
            let data = try SampleFile.lossless.data()
            let payload = try #require(data.range(of: Data("mdat".utf8))).upperBound

            let head = Data(data.prefix(payload))

            #expect(
                try decoder.inspect(head, limits: DecodingLimits()) == decoder.inspect(data, limits: DecodingLimits()))
            #expect(decoder.errorCode(head) == .truncated)
        }

        @Test func `a file of 12 bits has 16-bit samples on request`() throws {
            let pixels = try deepPixels(PixelSize(width: 21, height: 15))
            let data = try SampleFile.deep.data()

            let deep = try decode(data, DecodingOptions(pixelFormat: .rgba16)).pixels
            let shallow = try decode(data).pixels

            #expect(haveEqualDeepSamples(deep, pixels))
            #expect(shallow.format == .rgba8)
            let high = stride(from: 0, to: pixels.tightBytes.count, by: 2).map { index in
                (Double(pixels.tightBytes[index]) + 256 * Double(pixels.tightBytes[index + 1])) / 257
            }
            // 12 bits are rounded to 8 bits, in one or in two steps.
            #expect(zip(shallow.tightBytes, high).allSatisfy { abs(Double($0) - $1) < 1.1 })
            #expect(try decode(SampleFile.alpha.data(), DecodingOptions(pixelFormat: .rgba16)).pixels.format == .rgba8)
        }

        @Test func `gray files give gray pixels on request`() throws {
            let pixels = try grayPixels(PixelSize(width: 21, height: 15))
            let data = try SampleFile.gray.data()

            let color = try decode(data).pixels

            #expect(try decode(data, DecodingOptions(pixelFormat: .gray8)).pixels == pixels)
            #expect(color.format == .rgba8)
            #expect(color.alphaMode == .opaque)
            #expect(color.tightBytes == pixels.tightBytes.flatMap { [$0, $0, $0, 255] })
            #expect(
                try decode(SampleFile.lossless.data(), DecodingOptions(pixelFormat: .gray8)).pixels.format == .rgba8)
        }

        @Test func `an alpha plane without transparent pixels gives an opaque image`() throws {
            let pixels = try samplePixels(PixelSize(width: 21, height: 15))
            let alpha = try #require(
                PixelBuffer(size: pixels.size, format: .gray8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: 255)
                })
            var builder = AVIFBuilder()
            builder.add(try CodedImage(pixels), [AVIFBuilder.rgb])
            builder.add(try CodedImage(alpha), [AVIFBuilder.alpha])
            builder.refer("auxl", from: 2, to: [1])

            #expect(try decoder.inspect(builder.data, limits: DecodingLimits()).hasAlpha)
            #expect(try decode(builder.data).pixels == pixels)
            #expect(try decode(SampleFile.alpha.data()).pixels.alphaMode == .straight)
        }

        @Test func `premultiplied color is the straight color times alpha`() throws {
            let straight = try decode(SampleFile.alpha.data()).pixels

            let pixels = try decode(SampleFile.alpha.data(), DecodingOptions(alphaMode: .premultiplied)).pixels

            #expect(pixels.alphaMode == .premultiplied)
            #expect(pixels == straight.converted(to: .premultiplied))
            #expect(pixels.tightBytes != straight.tightBytes)
        }

        @Test func `color that the file stores premultiplied is divided by alpha`() throws {
            let size = PixelSize(width: 21, height: 15)
            let straight = try samplePixels(size, alpha: true)
            let premultiplied = straight.converted(to: .premultiplied)
            let alpha = try alphaPixels(straight)
            func file(isPremultiplied: Bool) throws -> Data {
                var builder = AVIFBuilder()
                builder.add(try CodedImage(premultiplied), [AVIFBuilder.rgb])
                builder.add(try CodedImage(alpha), [AVIFBuilder.alpha])
                builder.refer("auxl", from: 2, to: [1])
                if isPremultiplied { builder.refer("prem", from: 1, to: [2]) }
                return builder.data
            }

            #expect(try decode(file(isPremultiplied: true)).pixels == premultiplied.converted(to: .straight))
            #expect(try decode(file(isPremultiplied: false)).pixels.tightBytes == premultiplied.tightBytes)
        }

        @Test(arguments: [nil, 0, 1, 2, 3] as [Int?], [nil, 0, 1] as [Int?])
        func `the image is cropped, then rotated, then mirrored`(quarterTurns: Int?, axis: Int?) throws {
            let pixels = try samplePixels(PixelSize(width: 40, height: 30))
            var properties = [AVIFBuilder.rgb, AVIFBuilder.crop(width: 21, height: 10, halfX: -5, halfY: 8)]
            if let quarterTurns { properties.append(AVIFBuilder.rotation(quarterTurns)) }
            if let axis { properties.append(AVIFBuilder.mirror(axis)) }
            var builder = AVIFBuilder()
            builder.add(try CodedImage(pixels), properties)

            let image = try decode(builder.data)
            let stored = try decode(builder.data, DecodingOptions(appliesOrientation: false))

            let part = try cropped(pixels, x: 7, y: 14, width: 21, height: 10)
            var expected = part
            // A quarter turn counterclockwise makes an image upright whose orientation is `left`.
            for _ in 0..<(quarterTurns ?? 0) { expected = try expected.upright(from: .left) }
            if let axis { expected = try expected.upright(from: axis == 0 ? .downMirrored : .upMirrored) }
            #expect(image.pixels == expected)
            #expect(image.orientation == .up)
            #expect(stored.pixels == part)
            #expect(try stored.pixels.upright(from: stored.orientation) == expected)
            #expect(try decoder.inspect(builder.data, limits: DecodingLimits()).uprightSize == expected.size)
        }

        @Test(arguments: [(200, 10, 0, 0), (20, 10, 41, 0), (20, 10, 0, -41), (0, 10, 0, 0), (20, 10, 1, 0)])
        func `a crop outside the image or in half pixels is ignored`(
            width: Int, height: Int, halfX: Int, halfY: Int
        ) throws {
            let pixels = try samplePixels(PixelSize(width: 40, height: 30))
            let crop = AVIFBuilder.crop(width: width, height: height, halfX: halfX, halfY: halfY)
            var builder = AVIFBuilder()
            builder.add(try CodedImage(pixels), [AVIFBuilder.rgb, crop])

            #expect(try decode(builder.data).pixels == pixels)
        }

        @Test func `tiles of a grid are joined`() throws {
            let image = try decode(SampleFile.grid.data())

            let whole = try samplePixels(PixelSize(width: 128, height: 128))
            #expect(try image.pixels == cropped(whole, x: 0, y: 0, width: 128, height: 100))
        }

        @Test func `tiles of color and tiles of alpha are joined`() throws {
            let size = PixelSize(width: 128, height: 64)
            let whole = try samplePixels(size, alpha: true)
            let tiles = try [0, 64].map { try cropped(whole, x: $0, y: 0, width: 64, height: 64) }
            var builder = AVIFBuilder()
            builder.addGrid(columns: 2, rows: 1, size: size, properties: [AVIFBuilder.rgb])
            for tile in tiles { builder.add(try CodedImage(tile), [AVIFBuilder.rgb]) }
            builder.addGrid(columns: 2, rows: 1, size: size, properties: [AVIFBuilder.alpha])
            for tile in tiles { builder.add(try CodedImage(alphaPixels(tile))) }
            builder.refer("dimg", from: 1, to: [2, 3])
            builder.refer("dimg", from: 4, to: [5, 6])
            builder.refer("auxl", from: 4, to: [1])

            #expect(try decode(builder.data).pixels == whole)
        }

        @Test func `a file without the property pixi is decoded`() throws {
            let pixels = try samplePixels(PixelSize(width: 16, height: 8))
            let image = try CodedImage(pixels)
            var builder = AVIFBuilder()
            builder.add("av01", image.payload, [AVIFBuilder.extents(image.size), image.configuration, AVIFBuilder.rgb])

            #expect(try decode(builder.data).pixels == pixels)
        }

        @Test func `an orientation in EXIF is not applied`() throws {
            let exif = ImageOrientation.right.exif
            var builder = AVIFBuilder()
            let pixels = try samplePixels(PixelSize(width: 16, height: 8))
            builder.add(try CodedImage(pixels), [AVIFBuilder.rgb])
            builder.add("Exif", [0, 0, 0, 6] + Array("Exif\0\0".utf8) + exif)
            builder.refer("cdsc", from: 2, to: [1])

            let info = try decoder.inspect(builder.data, limits: DecodingLimits())

            #expect(info.metadata.exif == Data(exif))
            #expect(info.orientation == .up)
            #expect(try decode(builder.data).pixels == pixels)
        }

        @Test func `XMP is kept, and an orientation in it is not applied`() throws {
            let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/' tiff:Orientation='8'/>".utf8)
            var builder = AVIFBuilder()
            let pixels = try samplePixels(PixelSize(width: 16, height: 8))
            builder.add(try CodedImage(pixels), [AVIFBuilder.rgb])
            builder.add("mime", xmp)
            builder.refer("cdsc", from: 2, to: [1])

            let info = try decoder.inspect(builder.data, limits: DecodingLimits())

            #expect(info.metadata.xmp == Data(xmp))
            #expect(info.orientation == .up)
            #expect(try decode(builder.data).pixels == pixels)
        }

        @Test func `code points give a profile when the file has none`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 16, height: 8)))
            func profile(_ primaries: Int, _ transfer: Int) throws -> Data? {
                let numbers = [primaries, transfer, 0].flatMap { AVIFBuilder.number($0, 2) }
                var builder = AVIFBuilder()
                builder.add(image, [AVIFBuilder.box("colr", Array("nclx".utf8) + numbers + [0x80])])
                return try decode(builder.data).colorProfile
            }

            #expect(try profile(1, 13) == nil)
            #expect(try profile(2, 2) == nil)
            #expect(try profile(12, 13) == ColorDescription(primaries: 12, transfer: 13)?.profile(isGray: false))
            #expect(try profile(12, 13) != nil)
        }

        @Test func `a gray profile counts in a gray file and not in a file with colors`() throws {
            let profile = try #require(ColorDescription(primaries: 9, transfer: 14)?.profile(isGray: true))
            func result(_ pixels: PixelBuffer) throws -> Data? {
                var builder = AVIFBuilder()
                builder.add(
                    try CodedImage(pixels), [AVIFBuilder.box("colr", Array("prof".utf8) + [UInt8](profile))])
                return try decode(builder.data).colorProfile
            }
            let size = PixelSize(width: 16, height: 8)

            #expect(try result(grayPixels(size)) == profile)
            #expect(try result(samplePixels(size)) != profile)
        }

        @Test func `matrix coefficients that libavif cannot convert are unsupported`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 16, height: 8)))
            var builder = AVIFBuilder()
            // BT.2020, PQ and ICtCp.
            builder.add(image, [AVIFBuilder.box("colr", Array("nclx".utf8) + [0, 9, 0, 16, 0, 14, 0x80])])

            #expect(try decoder.inspect(builder.data, limits: DecodingLimits()).colorModel == .yCbCr)
            #expect(decoder.errorCode(builder.data) == .unsupportedVariant)
            let error = #expect(throws: ImageDecodingError.self) { try decode(builder.data) }
            #expect(error?.message.contains("cannot convert the pixels: ") == true)
        }

        @Test func `a profile over the metadata limit is omitted`() throws {
            let profile = Data((0..<200).map { UInt8($0) })
            let image = DecodedImage(pixels: try samplePixels(PixelSize(width: 8, height: 8)), colorProfile: profile)
            let data = try AVIFEncoder(compression: .lossless, speed: 10).encode(image)
            func result(_ limit: Int) throws -> Data? {
                try decode(data, DecodingOptions(limits: DecodingLimits(maximumMetadataByteCount: limit))).colorProfile
            }

            #expect(try result(200) == profile)
            #expect(try result(199) == nil)
        }

        @Test(arguments: [SampleFile.alpha, .deep, .subsampled, .rotated])
        func `a target size averages the pixels of the whole image`(file: SampleFile) throws {
            let target = TargetSize(width: 5, height: 5)
            let data = try file.data()
            var options = DecodingOptions(appliesOrientation: false, pixelFormat: .rgba16)
            let whole = try decode(data, options)

            options.target = target
            let small = try decode(data, options)

            let reduction = BoxReduction(from: whole.size, orientation: whole.orientation, towards: target)
            #expect(reduction.factor == 3 || reduction.factor == 4)
            #expect(try small.pixels == whole.pixels.reduced(by: reduction))
        }

        @Test func `rows that are converted in strips equal those of the whole image`() throws {
            let pixels = try samplePixels(PixelSize(width: 90, height: 203))
            let data = try AVIFEncoder(compression: .lossy(quality: 50), speed: 10).encode(DecodedImage(pixels: pixels))
            for format in [PixelFormat.rgba8, .rgba16] {
                let options = DecodingOptions(pixelFormat: format)
                let collector = PixelRowCollector()
                try decoder.decodeRows(data, options: options, into: collector)
                #expect(try collector.image?.pixels == decode(data, options).pixels)
            }
        }

        @Test func `the number of threads does not change the pixels`() throws {
            let pixels = try samplePixels(PixelSize(width: 600, height: 520))
            let encoder = AVIFEncoder(compression: .lossy(quality: 50), speed: 10, threads: 2)
            let data = try encoder.encode(DecodedImage(pixels: pixels))

            let image = try AVIFDecoder(usesThreads: true).decode(data, options: DecodingOptions())

            #expect(try image.pixels == decode(data).pixels)
        }

        @Test func `a file is recognized by its brands, and nothing else is`() throws {
            let registry = CodecRegistry([.avif])
            var builder = AVIFBuilder()
            builder.add(try CodedImage(samplePixels(PixelSize(width: 8, height: 8))))
            builder.brands = ["mif1", "miaf", "avif"]

            #expect(registry.entry(for: builder.data)?.format == .avif)
            #expect(try registry.entry(for: SampleFile.sequence.data())?.format == .avif)
            builder.brands = ["heic", "mif1"]
            #expect(registry.entry(for: builder.data) == nil)
            #expect(registry.entry(for: Data("....ftypavif".utf8)) == nil)
            #expect(registry.entry(for: Data([0, 0, 0, 12]) + Data("ftypavif".utf8)) != nil)
            #expect(registry.entry(for: Data([0, 0, 0, 16]) + Data("ftypmif1avif".utf8)) == nil)
            #expect(registry.entry(for: Data()) == nil)
            #expect(ImageFormat.avif.mediaType == "image/avif")
        }

        @Test func `the reported decoding memory grows with planes, rotation and frames`() throws {
            func count(_ file: SampleFile, _ options: DecodingOptions = DecodingOptions()) throws -> Int {
                try decoder.decodingByteCount(file.data(), options: options)
            }
            let output = try #require(PixelBuffer.byteCount(size: PixelSize(width: 15, height: 21), format: .rgba8))

            #expect(try count(.gray) < count(.lossless))
            #expect(try count(.lossless) < count(.alpha))
            #expect(try count(.lossless) < count(.deep))
            #expect(try count(.lossless) < count(.sequence))
            #expect(try count(.rotated) >= count(.rotated, DecodingOptions(appliesOrientation: false)) + output)
        }

        @Test(
            .spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory && !recordsAccesses),
            arguments: [6 * 512, 5 * 512 + 2])
        func `a decoder of a grid holds no more memory than its budget`(side: Int) async throws {
            // 36 tiles, of which the last ones can be almost outside of the image.
            let tile = PixelSize(width: 512, height: 512)
            let size = PixelSize(width: side, height: side)
            let image = try CodedImage(samplePixels(tile))
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "bomb")
            try AVIFBuilder.grid(columns: 6, rows: 6, size, of: image, tile).write(to: file)
            let path = file.path(percentEncoded: false)
            await #expect(processExitsWith: .success) { [path = path as String] in
                let data = try Data(contentsOf: URL(filePath: path))
                try PeakMemory.checkDecode(data, by: AVIFDecoder(), DecodingOptions(), "avif grid")
            }
        }

        @Test func `the reported decoding memory grows with the size of tiles`() throws {
            let image = try CodedImage(samplePixels(PixelSize(width: 8, height: 8)))
            func count(_ side: Int) throws -> Int {
                let size = PixelSize(width: 128, height: 100)
                let data = AVIFBuilder.grid(columns: 2, rows: 2, size, of: image, PixelSize(width: side, height: side))
                return try decoder.decodingByteCount(data, options: DecodingOptions())
            }

            // Four tiles of three planes.
            #expect(try count(640) - count(64) > 4 * 3 * (640 * 640 - 64 * 64))
        }
    }
#endif
