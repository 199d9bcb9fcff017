#if JXL
    import AlcedoCore
    import AlcedoJXL
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLDecoderTests {
        private let decoder = JXLDecoder()

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test(arguments: [
            (SampleFile.lossless, ColorModel.rgb, false, 8), (.alpha, .rgba, true, 8), (.lossy, .rgb, false, 8),
            (.deep, .rgb, false, 16), (.gray, .gray, false, 8),
        ])
        func `inspection returns size, depth, color model and alpha`(
            file: SampleFile, model: ColorModel, hasAlpha: Bool, depth: Int
        ) throws {
            let info = try decoder.inspect(file.data(), limits: DecodingLimits())

            #expect(
                info
                    == ImageInfo(
                        format: .jxl, size: SampleFile.size, hasAlpha: hasAlpha, bitDepth: depth, colorModel: model))
        }

        @Test
        func `a file is parsed once for all that a load asks`() throws {
            #expect(try decoder.parseCounts(SampleFile.lossless.data()) == [1, 1])
        }

        @Test func `the properties of a still codestream are known from its first bytes`() throws {
            let data = try SampleFile.lossless.data()
            let head = Data(data.prefix(60))

            #expect(
                try decoder.inspect(head, limits: DecodingLimits()) == decoder.inspect(data, limits: DecodingLimits()))
            #expect(decoder.errorCode(head) == .truncated)
        }

        @Test func `files with boxes of each form are read`() throws {
            let codestream = try SampleFile.lossless.data()
            let (head, tail) = (Data(codestream.prefix(20)), Data(codestream.dropFirst(20)))
            let boxes = [
                [BoxedFile.part(head, index: 0, isLast: false), BoxedFile.part(tail, index: 1, isLast: true)],
                [BoxedFile.box("jxlc", codestream), BoxedFile.largeBox("xml ", Data("<x/>".utf8))],
                [BoxedFile.openBox("jxlc", codestream)],
            ]
            for file in boxes.map(BoxedFile.file) {
                #expect(try decode(file).pixels == samplePixels(SampleFile.size))
            }
            // In the other file, the codestream is not the last box.
            for file in [boxes[0], boxes[2]].map(BoxedFile.file) {
                #expect(decoder.errorCode(Data(file.dropLast())) == .truncated)
            }
        }

        @Test func `a file of 16 bits has 16-bit samples on request`() throws {
            let pixels = try deepPixels(SampleFile.size)
            let data = try SampleFile.deep.data()

            let shallow = try decode(data).pixels

            #expect(try decode(data, DecodingOptions(pixelFormat: .rgba16)).pixels == pixels)
            #expect(shallow.format == .rgba8)
            #expect(shallow.alphaMode == .opaque)
            let bytes = pixels.tightBytes
            #expect(shallow.tightBytes == stride(from: 1, to: bytes.count, by: 2).map { bytes[$0] })
            #expect(try decode(SampleFile.alpha.data(), DecodingOptions(pixelFormat: .rgba16)).pixels.format == .rgba8)
        }

        @Test func `gray files give gray pixels on request`() throws {
            let pixels = try grayPixels(SampleFile.size)
            let data = try SampleFile.gray.data()

            let color = try decode(data).pixels

            #expect(try decode(data, DecodingOptions(pixelFormat: .gray8)).pixels == pixels)
            #expect(color.format == .rgba8)
            #expect(color.alphaMode == .opaque)
            #expect(color.tightBytes == pixels.tightBytes.flatMap { [$0, $0, $0, 255] })
            #expect(
                try decode(SampleFile.lossless.data(), DecodingOptions(pixelFormat: .gray8)).pixels.format == .rgba8)
        }

        @Test func `alpha without transparent pixels gives an opaque image`() throws {
            let opaque = try samplePixels(SampleFile.size)
            let encoder = JXLEncoder(compression: .lossless, effort: 3)
            let data = try encoder.encode(DecodedImage(pixels: opaque.reinterpreted(as: .straight)))

            #expect(try decoder.inspect(data, limits: DecodingLimits()).hasAlpha)
            #expect(try decode(data).pixels == opaque)
            #expect(try decode(SampleFile.alpha.data()).pixels.alphaMode == .straight)
        }

        @Test func `premultiplied color is the straight color times alpha`() throws {
            let straight = try decode(SampleFile.alpha.data()).pixels

            let pixels = try decode(SampleFile.alpha.data(), DecodingOptions(alphaMode: .premultiplied)).pixels

            #expect(pixels.alphaMode == .premultiplied)
            #expect(pixels == straight.converted(to: .premultiplied))
            #expect(pixels.tightBytes != straight.tightBytes)
        }

        @Test(arguments: ImageOrientation.allCases)
        func `the orientation of the codestream is applied on request`(orientation: ImageOrientation) throws {
            let pixels = try samplePixels(SampleFile.size)
            let encoder = JXLEncoder(compression: .lossless, effort: 3)
            let data = try encoder.encode(DecodedImage(pixels: pixels, orientation: orientation))

            let stored = try decode(data, DecodingOptions(appliesOrientation: false))

            #expect(stored.pixels == pixels)
            #expect(stored.orientation == orientation)
            #expect(try decode(data).pixels == pixels.upright(from: orientation))
            #expect(try decode(data).orientation == .up)
            #expect(try decoder.inspect(data, limits: DecodingLimits()).orientation == orientation)
        }

        @Test func `inks of a file with a black channel are multiplied`() throws {
            let data = try testFile("Fuzz/JXL/Seeds/black.jxl")

            let image = try decode(data)

            #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .cmyk)
            // The file was made with libjxl for these tests. It has 40 x 30 pixels, the inks n, 200 and 255 at pixel
            // n, and black 255 - 8 y.
            for (x, y) in [(0, 0), (7, 0), (12, 9), (39, 29)] {
                let number = 40 * y + x
                let light = 255 - 8 * y
                let inks = [number % 256, 200, 255].map { (ink: Int) -> UInt8 in UInt8((ink * light + 127) / 255) }
                let alpha: UInt8 = number % 3 == 0 ? 100 : 255
                #expect(image.pixels.rgba(x, y) == inks + [alpha])
            }
        }

        @Test(arguments: [SampleFile.alpha, .deep, .lossy, .rotated])
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

        @Test func `the number of threads does not change the pixels`() throws {
            let pixels = try smoothPixels(PixelSize(width: 600, height: 520))
            let data = try JXLEncoder(effort: 3, threads: 2).encode(DecodedImage(pixels: pixels))

            let image = try JXLDecoder(usesThreads: true).decode(data, options: DecodingOptions())

            #expect(try image.pixels == decode(data).pixels)
        }

        @Test func `a file is recognized by its signatures, and nothing else is`() throws {
            let registry = CodecRegistry([.jxl])

            #expect(try registry.entry(for: SampleFile.lossless.data())?.format == .jxl)
            #expect(try registry.entry(for: SampleFile.metadata.data())?.format == .jxl)
            #expect(registry.entry(for: Data([0xFF, 0xD8, 0xFF])) == nil)
            #expect(registry.entry(for: Data([0, 0, 0, 12]) + Data("JXM ".utf8)) == nil)
            #expect(registry.entry(for: Data()) == nil)
            #expect(ImageFormat.jxl.mediaType == "image/jxl")
        }

        @Test func `the reported decoding memory grows with channels, frames and depth`() throws {
            func count(_ file: SampleFile, _ options: DecodingOptions = DecodingOptions()) throws -> Int {
                try decoder.decodingByteCount(file.data(), options: options)
            }

            #expect(try count(.lossless) < count(.alpha))
            #expect(try count(.lossless) < count(.animation))
            #expect(try count(.lossless) < count(.deep))
        }
    }
#endif
