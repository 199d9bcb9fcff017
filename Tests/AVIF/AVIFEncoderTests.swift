#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import Foundation
    import TestSupport
    import Testing

    @Suite struct AVIFEncoderTests {
        private let decoder = AVIFDecoder()
        private let lossless = AVIFEncoder(compression: .lossless, speed: 10)

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test(arguments: [2, 6, 10, 99], [false, true])
        func `lossless pixels are exact`(speed: Int, alpha: Bool) throws {
            let pixels = try samplePixels(PixelSize(width: 33, height: 21), alpha: alpha)

            let data = try AVIFEncoder(compression: .lossless, speed: speed).encode(DecodedImage(pixels: pixels))

            #expect(try decode(data).pixels == pixels)
        }

        @Test func `lossy images are close, closer and larger with quality, and alpha is exact`() throws {
            let pixels = try smoothPixels(PixelSize(width: 90, height: 70))
            func result(_ quality: Double) throws -> (count: Int, error: Int) {
                let encoder = AVIFEncoder(compression: .lossy(quality: quality), speed: 9)
                let data = try encoder.encode(DecodedImage(pixels: pixels))
                let decoded = try decode(data).pixels
                let differences = zip(decoded.tightBytes, pixels.tightBytes).map { abs(Int($0) - Int($1)) }
                return (data.count, differences.reduce(0, +))
            }

            let (low, high) = (try result(5), try result(95))

            #expect(low.count < high.count)
            #expect(low.error > high.error)
            #expect(high.error < 3 * 90 * 70)
            #expect(try result(-3).count == result(0).count)
            #expect(try result(.nan).count == result(0).count)
            #expect(try result(200).count == result(100).count)
            let translucent = try samplePixels(PixelSize(width: 33, height: 21), alpha: true)
            let encoder = AVIFEncoder(compression: .lossy(quality: 20), speed: 9)
            let decoded = try decode(encoder.encode(DecodedImage(pixels: translucent))).pixels.tightBytes
            for offset in stride(from: 3, to: decoded.count, by: 4) {
                #expect(decoded[offset] == translucent.tightBytes[offset])
            }
        }

        @Test func `a limit of bytes lowers the quality of lossy files only`() throws {
            let image = DecodedImage(pixels: try smoothPixels(PixelSize(width: 90, height: 70)))
            let encoder = AVIFEncoder(compression: .lossy(quality: 60), speed: 10)
            #expect(encoder.limitingQuality(to: 0.4)?.compression == .lossy(quality: 40))
            #expect(encoder.limitingQuality(to: 0.8)?.compression == .lossy(quality: 60))
            #expect(lossless.limitingQuality(to: 0.4) == nil)
            let smallest = try #require(encoder.limitingQuality(to: 0)).encode(image).count
            let limit = (try encoder.encode(image).count + smallest) / 2

            #expect(try (smallest...limit).contains(encoder.limitingFileSize(to: limit).encode(image).count))
            let error = #expect(throws: ImageEncodingError.self) {
                try lossless.limitingFileSize(to: limit).encode(image)
            }
            #expect(error?.code == .exceedsFileSize)
        }

        @Test func `profile and orientation are written, and rows stay as stored`() throws {
            let profile = Data("a profile of odd length".utf8)
            let pixels = try samplePixels(PixelSize(width: 33, height: 21))
            for orientation in ImageOrientation.allCases {
                let image = DecodedImage(pixels: pixels, colorProfile: profile, orientation: orientation)

                let data = try lossless.encode(image)

                let stored = try decode(data, DecodingOptions(appliesOrientation: false))
                #expect(stored.orientation == orientation)
                #expect(stored.colorProfile == profile)
                #expect(stored.pixels == pixels)
                #expect(try decode(data).pixels == pixels.upright(from: orientation))
                #expect(try decoder.inspect(data, limits: DecodingLimits()).metadata.exif == nil)
            }
        }

        @Test func `EXIF is written with the orientation of the image`() throws {
            let image = DecodedImage(pixels: try samplePixels(PixelSize(width: 9, height: 8)), orientation: .left)

            let data = try lossless.embedding(exif: Data(ImageOrientation.right.exif)).encode(image)

            let info = try decoder.inspect(data, limits: DecodingLimits())
            #expect(info.orientation == .left)
            #expect(info.metadata.exif == Data(ImageOrientation.left.exif))
        }

        @Test func `EXIF data without a TIFF header is omitted`() throws {
            let image = DecodedImage(pixels: try samplePixels(PixelSize(width: 9, height: 8)))

            let data = try lossless.embedding(exif: Data("no TIFF header".utf8)).encode(image)

            #expect(try decoder.inspect(data, limits: DecodingLimits()).metadata.exif == nil)
        }

        @Test(arguments: [PixelFormat.rgba8, .rgba16], [true, false])
        func `an image with alpha whose pixels are all gray is monochrome`(
            format: PixelFormat, isLossless: Bool
        ) throws {
            let size = PixelSize(width: 33, height: 21)
            let maximum = format.isDeep ? 4095 : 255
            let pixels = try #require(
                PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, stride in
                    for y in 0..<size.height {
                        for x in 0..<size.width {
                            for channel in 0..<4 {
                                let value = (channel == 3 ? maximum - 3 * x : 2 * x + 3 * y) * (format.isDeep ? 16 : 1)
                                let offset = y * stride + x * format.bytesPerPixel + channel * format.bytesPerPixel / 4
                                if format.isDeep {
                                    let sample = UInt16(value + value / 4096)
                                    memory.storeBytes(of: sample, toByteOffset: offset, as: UInt16.self)
                                } else {
                                    memory[offset] = UInt8(value)
                                }
                            }
                        }
                    }
                })
            let encoder = isLossless ? lossless : AVIFEncoder(speed: 9)

            let data = try encoder.encode(DecodedImage(pixels: pixels))

            #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .grayAlpha)
            let decoded = try decode(data, DecodingOptions(pixelFormat: format)).pixels
            #expect(decoded.format == format)
            #expect(decoded.alphaMode == .straight)
            if isLossless, format.isDeep { #expect(haveEqualDeepSamples(decoded, pixels)) }
            if isLossless, !format.isDeep { #expect(decoded == pixels) }
        }

        @Test func `every pixel format is encoded`() throws {
            let size = PixelSize(width: 33, height: 21)
            let (gray, deep) = (try grayPixels(size), try deepPixels(size))
            let straight = try samplePixels(size, alpha: true)
            let filled = try #require(
                PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: 255)
                })

            let grayFile = try lossless.encode(DecodedImage(pixels: gray))
            #expect(try decode(grayFile, DecodingOptions(pixelFormat: .gray8)).pixels == gray)
            let deepFile = try lossless.encode(DecodedImage(pixels: deep))
            let decoded = try decode(deepFile, DecodingOptions(pixelFormat: .rgba16)).pixels
            #expect(haveEqualDeepSamples(decoded, deep))
            let lossy = try AVIFEncoder(speed: 10).encode(DecodedImage(pixels: deep))
            #expect(try decoder.inspect(lossy, limits: DecodingLimits()).bitDepth == 10)
            let premultiplied = straight.converted(to: .premultiplied)
            #expect(
                try decode(lossless.encode(DecodedImage(pixels: premultiplied))).pixels
                    == premultiplied.converted(to: .straight))
            #expect(
                try decode(lossless.encode(DecodedImage(pixels: filled))).pixels.tightBytes.allSatisfy { $0 == 255 })
        }

        @Test func `an animation that the format does not support is an error`() throws {
            let pixels = try samplePixels(PixelSize(width: 8, height: 8))
            let small = try samplePixels(PixelSize(width: 4, height: 4))
            for (frame, code) in [(nil, ImageEncodingError.Code.failed), (small, .unsupportedImage)] {
                let frames = MadeFrames(pixels.size, [(pixels, .milliseconds(20)), (frame, .milliseconds(20))])
                let error = #expect(throws: ImageEncodingError.self) {
                    try lossless.encode(DecodedImage(pixels: pixels, frames: frames))
                }
                #expect(error?.code == code)
            }
        }

        @Test func `a sequence keeps alpha and durations`() throws {
            let pixels = try (0..<3).map { try samplePixels(PixelSize(width: 20 + $0, height: 9), alpha: true) }
            let frames = try pixels.enumerated().map { index, pixels in
                (
                    pixels: Optional(try cropped(pixels, x: index, y: 0, width: 20, height: 9)),
                    delay: [Duration.milliseconds(-5), .seconds(100_000), .milliseconds(30)][index]
                )
            }
            let source = MadeFrames(PixelSize(width: 20, height: 9), frames)

            let data = try lossless.encode(DecodedImage(pixels: try #require(frames[0].pixels), frames: source))

            let decoded = try #require(try decode(data).frames)
            #expect(decoded.frameCount == 3)
            for index in 0..<3 { #expect(try decoded.frame(at: index) == frames[index].pixels) }
            #expect(decoded.rawDelay(at: 1) == .milliseconds(16_777_215))
            #expect(decoded.rawDelay(at: 2) == .milliseconds(30))
        }

        @Test func `short delays from GIF are written as browsers show them unless they are kept`() throws {
            let pixels = try samplePixels(PixelSize(width: 16, height: 16))
            let frames = MadeFrames(pixels.size, [(pixels, .milliseconds(10)), (pixels, .milliseconds(20))])
            let image = DecodedImage(pixels: pixels, format: .gif, frames: frames)
            for (keeps, expected) in [(false, 100), (true, 10)] {
                let encoder = AVIFEncoder(compression: .lossless, speed: 10, keepsShortDelays: keeps)
                let decoded = try #require(decode(encoder.encode(image)).frames)
                #expect(decoded.rawDelay(at: 0) == .milliseconds(expected))
                #expect(decoded.rawDelay(at: 1) == .milliseconds(20))
            }
        }

        @Test func `a side of more than 65,535 pixels is refused`() throws {
            let size = PixelSize(width: 65_536, height: 1)
            let pixels = try #require(PixelBuffer(size: size, format: .gray8, alphaMode: .opaque))

            let error = #expect(throws: ImageEncodingError.self) { try lossless.encode(DecodedImage(pixels: pixels)) }

            #expect(error?.code == .unsupportedImage)
        }

        @Test func `row encoding writes the same pixels as the image`() throws {
            let pixels = try samplePixels(PixelSize(width: 20, height: 9), alpha: true)
            let image = DecodedImage(pixels: pixels, colorProfile: Data([9]), orientation: .left)
            var output = Data()

            try image.sendRows(to: lossless.makeRowEncoder { $0.withUnsafeBytes { output.append(contentsOf: $0) } })

            #expect(try decode(output).pixels == decode(lossless.encode(image)).pixels)
        }

        @Test func `the entry of the registry encodes without loss at a quality of 1`() throws {
            let pixels = try samplePixels(PixelSize(width: 20, height: 9))
            let registry = CodecRegistry([.avif])

            let exact = try #require(registry.encoder(for: .avif)).encode(DecodedImage(pixels: pixels))
            let lossy = try #require(registry.encoder(for: .avif, quality: 0.5)).encode(DecodedImage(pixels: pixels))

            #expect(try decode(exact).pixels == pixels)
            #expect(lossy.count < exact.count)
        }
    }
#endif
