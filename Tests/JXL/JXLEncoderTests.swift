#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLEncoderTests {
        private let decoder = JXLDecoder()
        private let lossless = JXLEncoder(compression: .lossless, effort: 3)

        private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
            try decoder.decode(data, options: options)
        }

        @Test(arguments: [-1, 1, 5, 99], [false, true])
        func `lossless pixels are exact`(effort: Int, alpha: Bool) throws {
            let pixels = try samplePixels(PixelSize(width: 33, height: 21), alpha: alpha)

            let data = try JXLEncoder(compression: .lossless, effort: effort).encode(DecodedImage(pixels: pixels))

            #expect(try decode(data).pixels == pixels)
        }

        private func result(
            _ compression: JXLEncoder.Compression, _ pixels: PixelBuffer
        ) throws -> (count: Int, error: Int) {
            let data = try JXLEncoder(compression: compression, effort: 3).encode(DecodedImage(pixels: pixels))
            let decoded = try decode(data).pixels
            let differences = zip(decoded.tightBytes, pixels.tightBytes).map { abs(Int($0) - Int($1)) }
            return (data.count, differences.reduce(0, +))
        }

        @Test func `lossy images are close, and closer and larger with quality`() throws {
            let size = PixelSize(width: 90, height: 70)
            let pixels = try madePixels(size, .rgba8, alphaMode: .opaque) { x, y in
                let noise = (x * 13 + y * 7) % 70
                return [100 + noise, 90 + noise, x + y, 255]
            }

            let (low, high) = (try result(.init(quality: 5), pixels), try result(.init(quality: 95), pixels))

            #expect(low.count < high.count)
            #expect(low.error > high.error)
            #expect(high.error < 18 * size.pixelCount)
            #expect(try result(.distance(8), pixels).count < result(.distance(0.5), pixels).count)
        }

        @Test func `qualities outside the range are clamped, and 100 is lossless`() {
            typealias Compression = JXLEncoder.Compression

            #expect(Compression(quality: 100) == .lossless)
            #expect(Compression(quality: 200) == .lossless)
            #expect(Compression(quality: -3) == .distance(25))
            #expect(Compression(quality: .nan) == .distance(25))
            guard case .distance(let distance) = Compression(quality: 90) else {
                Issue.record("a quality of 90 is lossless")
                return
            }
            #expect(abs(distance - 1) < 0.001)
        }

        @Test(arguments: [PixelFormat.rgba8, .rgba16], [JXLEncoder.Compression.lossless, .distance(1)])
        func `an image with alpha whose pixels are all gray is stored as gray with alpha`(
            format: PixelFormat, compression: JXLEncoder.Compression
        ) throws {
            let pixels = try madePixels(PixelSize(width: 33, height: 21), format, alphaMode: .straight) { x, y in
                let scale = format.isDeep ? 257 : 1
                let gray = scale * (2 * x + 3 * y) + x * (scale - 1) / 256
                return [gray, gray, gray, scale * (255 - 3 * x)]
            }

            let data = try JXLEncoder(compression: compression, effort: 3).encode(DecodedImage(pixels: pixels))

            let info = try decoder.inspect(data, limits: DecodingLimits())
            #expect(info.colorModel == .grayAlpha)
            #expect(info.bitDepth == (format.isDeep ? 16 : 8))
            let decoded = try decode(data, DecodingOptions(pixelFormat: format)).pixels
            #expect(decoded.format == format)
            #expect((compression != .lossless || decoded == pixels))
        }

        @Test(arguments: [-1, 0, .nan, 1_000] as [Double])
        func `distances outside the range are clamped`(distance: Double) throws {
            let pixels = try smoothPixels(PixelSize(width: 20, height: 20))

            let data = try ImageEncoder.jxl(distance: distance, effort: 3).encode(DecodedImage(pixels: pixels))

            #expect(try decode(data).size == pixels.size)
        }

        @Test(arguments: [(0.1, 0), (1, 1), (5, 6)])
        func `alpha of a lossy image is close`(distance: Double, maximum: Int) throws {
            let translucent = try samplePixels(PixelSize(width: 33, height: 21), alpha: true)

            let data = try JXLEncoder(compression: .distance(distance), effort: 3)
                .encode(DecodedImage(pixels: translucent))

            let decoded = try decode(data).pixels.tightBytes
            let stored = translucent.tightBytes
            let errors = stride(from: 3, to: decoded.count, by: 4).map { abs(Int(decoded[$0]) - Int(stored[$0])) }
            #expect(errors.count == 33 * 21)
            #expect(errors.allSatisfy { $0 <= maximum })
        }

        @Test(arguments: [true, false])
        func `a lossy image with linear samples is decoded with the curve of sRGB`(isGray: Bool) throws {
            let size = PixelSize(width: 64, height: 64)
            let primaries: ColorPrimaries = isGray ? .bt709 : .p3
            let profile = try #require(ColorDescription(primaries, .power(1)).profile(isGray: isGray))
            let pixels = try madePixels(size, isGray ? .gray8 : .rgba8, alphaMode: .opaque) { _, _ in
                isGray ? [13] : [13, 13, 13, 255]
            }

            let data = try JXLEncoder(compression: .distance(0.5), effort: 3)
                .encode(DecodedImage(pixels: pixels, colorProfile: profile))

            let decoded = try decode(data, DecodingOptions(pixelFormat: isGray ? .gray8 : .rgba8))
            // The sample of sRGB for 13 / 255 of the light.
            #expect(decoded.pixels.tightBytes.prefix(3).allSatisfy { abs(Int($0) - 64) <= 2 })
            #expect(decoded.colorProfile == nil)
        }

        @Test func `a profile of another color space is omitted`() throws {
            let image = DecodedImage(
                pixels: try grayPixels(SampleFile.size), colorProfile: try testFile("JPEG/Fixtures/profile.icc"))

            #expect(try decode(lossless.encode(image)).colorProfile == nil)
        }

        @Test func `a damaged profile is omitted`() throws {
            let profile = Data(try testFile("JPEG/Fixtures/profile.icc").prefix(200))
            let image = DecodedImage(pixels: try samplePixels(SampleFile.size), colorProfile: profile)

            let decoded = try decode(lossless.encode(image))

            #expect(decoded.colorProfile == nil)
            #expect(decoded.pixels == image.pixels)
        }

        @Test func `EXIF is written with the orientation of the image`() throws {
            let image = DecodedImage(pixels: try samplePixels(PixelSize(width: 9, height: 8)), orientation: .left)

            let data = try lossless.embedding(exif: Data(ImageOrientation.right.exif)).encode(image)

            let info = try decoder.inspect(data, limits: DecodingLimits())
            #expect(info.orientation == .left)
            #expect(info.metadata.exif == Data(ImageOrientation.left.exif))
            #expect(try decoder.inspect(lossless.encode(image), limits: DecodingLimits()).metadata.exif == nil)
        }

        @Test func `every pixel format is encoded`() throws {
            let size = PixelSize(width: 33, height: 21)
            let straight = try samplePixels(size, alpha: true)
            let filled = try madePixels(size, .rgbx8, alphaMode: .opaque) { _, _ in [255, 255, 255, 255] }
            let deepAlpha = try madePixels(size, .rgba16, alphaMode: .straight) { x, y in
                [x * 999, y * 2_000, 30_000, 65_535 - x * y]
            }

            for pixels in [straight, deepAlpha] {
                let data = try lossless.encode(DecodedImage(pixels: pixels))
                #expect(try decode(data, DecodingOptions(pixelFormat: pixels.format)).pixels == pixels)
            }
            let lossy = try JXLEncoder(effort: 3).encode(DecodedImage(pixels: try deepPixels(size)))
            #expect(try decoder.inspect(lossy, limits: DecodingLimits()).bitDepth == 16)
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
            let alpha = try samplePixels(pixels.size, alpha: true)
            let cases: [(PixelBuffer?, ImageEncodingError.Code)] = [
                (nil, .failed), (small, .unsupportedImage), (alpha, .unsupportedImage),
            ]
            for (frame, code) in cases {
                let frames = MadeFrames(pixels.size, [(pixels, .milliseconds(20)), (frame, .milliseconds(20))])
                let error = #expect(throws: ImageEncodingError.self) {
                    try lossless.encode(DecodedImage(pixels: pixels, frames: frames))
                }
                #expect(error?.code == code)
            }
        }

        @Test func `an animation whose bytes exceed the limit ends while it is encoded`() throws {
            #expect(try NoiseFrames.endsEncode(by: lossless, maximumByteCount: 32 << 10))
        }

        @Test func `a limit of quality raises the distance of lossy files only`() throws {
            let encoder = JXLEncoder(compression: .distance(1))
            #expect(encoder.limitingQuality(to: 0.5)?.compression == JXLEncoder.Compression(quality: 50))
            #expect(encoder.limitingQuality(to: 0.95)?.compression == .distance(1))
            #expect(encoder.limitingQuality(to: 1)?.compression == .distance(1))
            #expect(lossless.limitingQuality(to: 0.5) == nil)
        }

        @Test func `row encoding writes the same pixels as the image`() throws {
            let pixels = try samplePixels(PixelSize(width: 20, height: 9), alpha: true)
            let image = DecodedImage(pixels: pixels, orientation: .left)
            var output = Data()

            try image.sendRows(to: lossless.makeRowEncoder { $0.withUnsafeBytes { output.append(contentsOf: $0) } })

            #expect(try decode(output).pixels == pixels.upright(from: .left))
        }

        @Test func `the entry of the registry encodes without loss at a quality of 1`() throws {
            let pixels = try smoothPixels(PixelSize(width: 60, height: 50))
            let registry = CodecRegistry([.jxl])

            let exact = try #require(registry.encoder(for: .jxl)).encode(DecodedImage(pixels: pixels))
            let lossy = try #require(registry.encoder(for: .jxl, quality: 0.5)).encode(DecodedImage(pixels: pixels))

            #expect(try decode(exact).pixels == pixels)
            #expect(lossy.count < exact.count)
        }
    }
#endif
