import TestSupport
import AlcedoCore
import AlcedoTesting
import AlcedoWebP
import Foundation
import Testing

@Suite struct WebPDecoderTests {
    private let decoder = WebPDecoder()
    private let size = PixelSize(width: 14, height: 18)

    @Test(arguments: [("lossless.webp", "opaque.rgba"), ("lossless-alpha.webp", "alpha.rgba")])
    func `lossless pixels are exact`(file: String, expected: String) throws {
        let image = try decoder.decode(fixture(file), options: DecodingOptions())

        #expect(image.pixels.tightBytes == Array(try fixture(expected)))
        #expect(image.format == .webp)
        #expect(image.pixels.alphaMode == (file == "lossless.webp" ? .opaque : .straight))
    }

    @Test(arguments: [("lossy.webp", "opaque.rgba"), ("lossy-alpha.webp", "alpha.rgba")])
    func `lossy pixels are close and their alpha is exact`(file: String, expected: String) throws {
        let pixels = try decoder.decode(fixture(file), options: DecodingOptions()).pixels

        let original = Array(try fixture(expected))
        let differences = zip(pixels.tightBytes, original).map { abs(Int($0) - Int($1)) }
        // Chroma has half the resolution, and this image's color changes in every column.
        #expect(differences.reduce(0, +) < 6 * differences.count)
        #expect(stride(from: 3, to: differences.count, by: 4).allSatisfy { differences[$0] == 0 })
        #expect(pixels.alphaMode == (file == "lossy.webp" ? .opaque : .straight))
    }

    @Test(arguments: ["lossless.webp", "lossy.webp", "animated.webp"])
    func `a file is parsed once for all that a load asks`(file: String) throws {
        #expect(try decoder.parseCounts(fixture(file)) == [1, 1])
    }

    @Test(arguments: ["lossless-alpha.webp", "lossy-alpha.webp", "animated.webp"])
    func `premultiplied color is the straight color times alpha`(file: String) throws {
        let straight = try decoder.decode(fixture(file), options: DecodingOptions()).pixels
        let pixels = try decoder.decode(fixture(file), options: DecodingOptions(alphaMode: .premultiplied)).pixels

        #expect(pixels.alphaMode == .premultiplied)
        #expect(pixels == straight.converted(to: .premultiplied))
        #expect(pixels.tightBytes != straight.tightBytes)
    }

    @Test(arguments: ["lossless.webp", "lossless-alpha.webp", "lossy.webp", "lossy-alpha.webp", "metadata.webp"])
    func `pixels match libwebp's simple interface`(file: String) throws {
        let data = try fixture(file)

        let image = try decoder.decode(data, options: DecodingOptions(appliesOrientation: false))

        #expect(image.pixels.tightBytes == LibwebpPlayer.still(data))
    }

    @Test func `alpha is decoded although a lossless header declares none`() throws {
        var data = try fixture("lossless-alpha.webp")
        // RIFF header 12, chunk header 8, signature 1, then two sizes of 14 bits and the hint.
        data[24] ^= 0x10
        #expect(try !decoder.inspect(data, limits: DecodingLimits()).hasAlpha)

        let pixels = try decoder.decode(data, options: DecodingOptions()).pixels

        #expect(pixels.tightBytes == Array(try fixture("alpha.rgba")))
        #expect(pixels.alphaMode == .straight)
    }

    @Test(arguments: [
        ("lossless.webp", ColorModel.rgb, false), ("lossless-alpha.webp", .rgba, true), ("lossy.webp", .yCbCr, false),
        ("lossy-alpha.webp", .yCbCr, true),
    ])
    func `inspection returns size, color model and alpha`(file: String, model: ColorModel, hasAlpha: Bool) throws {
        let info = try decoder.inspect(fixture(file), limits: DecodingLimits())

        #expect(info == ImageInfo(format: .webp, size: size, hasAlpha: hasAlpha, colorModel: model))
    }

    @Test(arguments: ["animated.webp", "offset.webp"])
    func `inspecting an animation counts its frames`(file: String) throws {
        let info = try decoder.inspect(fixture(file), limits: DecodingLimits())

        #expect(info.size == size)
        #expect(info.hasAlpha)
        #expect(info.frameCount == 2)
        #expect(info.loopCount == 2)
        #expect(info.delays.count == 2)
    }

    @Test func `the reported decoding memory grows with libwebp's buffers`() throws {
        func count(_ file: String, _ options: DecodingOptions = DecodingOptions()) throws -> Int {
            try decoder.decodingByteCount(fixture(file), options: options)
        }
        let output = try #require(PixelBuffer.byteCount(size: size, format: .rgba8))

        #expect(try count("lossy.webp") >= output)
        #expect(try count("lossless.webp") >= count("lossy.webp") + 4 * size.pixelCount)
        #expect(try count("lossy-alpha.webp") >= count("lossy.webp") + 5 * size.pixelCount)
        #expect(try count("lossy.webp", DecodingOptions(alphaMode: .premultiplied)) == count("lossy.webp") + output)
        #expect(try count("animated.webp") > 4 * output)
        #expect(try count("lossy.webp", DecodingOptions(target: TargetSize(size))) == count("lossy.webp"))
    }

    @Test func `the prefix codes of lossless pixels are part of the reported memory, and have a limit`() throws {
        // 4,096 groups of codes, for which libwebp holds 23 MB.
        let data = PrefixCodeBomb.file(side: 256)
        let count = try decoder.decodingByteCount(data, options: DecodingOptions())
        #expect((4096 * 5120...4096 * 12_400 + (4 << 20)).contains(count))
        #expect(try decoder.decode(data).size == PixelSize(width: 256, height: 256))
        try DecoderChecks(decoder).checkPieces(PrefixCodeBomb.file(side: 64))

        let limits = DecodingLimits(maximumByteCount: 20 << 20)
        let error = #expect(throws: ImageDecodingError.self) {
            try decoder.decode(data, options: DecodingOptions(limits: limits))
        }
        #expect(error?.code == .exceedsLimit)
        let incremental = decoder.makeIncrementalDecoder(options: DecodingOptions(limits: limits))
        let refused = #expect(throws: ImageDecodingError.self) {
            try incremental.append(data)
            _ = try incremental.finish()
        }
        #expect(refused?.code == .exceedsLimit)
    }

    @Test func `groups that no block uses and a color cache are part of the reported memory`() throws {
        func count(_ data: Data) throws -> Int {
            #expect(try decoder.decode(data).size == PixelSize(width: 64, height: 64))
            return try decoder.decodingByteCount(data, options: DecodingOptions())
        }
        let plain = try count(PrefixCodeBomb.file(side: 64))
        // libwebp holds up to 1,000 groups, however few blocks there are.
        let unused = try count(PrefixCodeBomb.file(side: 64, groupCount: 1000))
        #expect(unused - plain >= (1000 - 256) * 5120)
        #expect(try count(PrefixCodeBomb.file(side: 64, groupCount: 1001)) == plain)
        // The table of green has a place for each color of the cache.
        #expect(try count(PrefixCodeBomb.file(side: 64, colorCacheBits: 11)) - plain == 256 * 2048 * 4)
    }

    @Test func `the prefix codes of all frames have a limit`() throws {
        let side = 256
        let plain = try WebPEncoder(compression: .lossless).encode(.coordinates(PixelSize(width: side, height: side)))
        let frames = [plain, PrefixCodeBomb.file(side: side)].map { file in
            RIFFWriter.frame(width: side, height: side, [RIFFWriter.image(of: file)])
        }
        let data = RIFFWriter.file([RIFFWriter.animation(width: side, height: side)] + frames)

        for includesAnimation in [true, false] {
            var options = DecodingOptions(limits: DecodingLimits(maximumByteCount: 20 << 20))
            options.includesAnimation = includesAnimation
            let incremental = decoder.makeIncrementalDecoder(options: options)
            try incremental.append(data)
            let results = [Result { try decoder.decode(data, options: options) }, Result { try incremental.finish() }]
            for result in results {
                if includesAnimation {
                    let error = #expect(throws: ImageDecodingError.self) { try result.get() }
                    #expect(error?.code == .exceedsLimit)
                } else {
                    #expect(try result.get().frames == nil)
                }
            }
        }
    }

    @Test func `the prefix codes of lossless alpha are part of the reported memory`() throws {
        let size = PixelSize(width: 256, height: 256)
        let color = try WebPEncoder(method: 0).encode(.coordinates(size))
        let header = RIFFWriter.extendedHeader(flags: 0x10, width: size.width, height: size.height)
        // After the method, the stream has neither a signature nor a size.
        let alpha = RIFFWriter.chunk("ALPH", [1] + PrefixCodeBomb.file(side: size.width).dropFirst(25))
        let data = RIFFWriter.file([header, alpha, RIFFWriter.image(of: color)])

        #expect(try decoder.decodingByteCount(data, options: DecodingOptions()) >= 4096 * 5120)
        let image = try decoder.decode(data)
        #expect(image.damage == nil)
        #expect(image.pixels.tightBytes.contains { $0 != 0 })
        let limits = DecodingLimits(maximumByteCount: 20 << 20)
        #expect(errorCode(data, limits: limits) == .exceedsLimit)
    }

    @Test func `the memory of a lossless image is known before its pixels are complete`() throws {
        let data = PrefixCodeBomb.file(side: 256)
        let incremental = decoder.makeIncrementalDecoder(options: DecodingOptions())
        var known: Int?
        // The image with the numbers of the groups takes 8 KiB, and their codes 10 KiB.
        for start in stride(from: 0, to: 14 << 10, by: 512) where known == nil {
            try incremental.append(data.subdata(in: start..<start + 512))
            known = incremental.decodingByteCount
        }
        #expect(try #require(known) >= 4096 * 5120)
    }

    @Test func `an ordinary lossless image has few prefix codes`() throws {
        let image = DecodedImage.coordinates(PixelSize(width: 300, height: 200))
        let data = try WebPEncoder(compression: .lossless).encode(image)
        #expect(try decoder.decodingByteCount(data, options: DecodingOptions()) < 12 * 300 * 200 + (2 << 20))
    }

    @Test func `a file is recognized by content, and nothing else is`() throws {
        let registry = CodecRegistry([.webp])

        #expect(registry.entry(for: try fixture("lossy.webp"))?.format == .webp)
        #expect(registry.entry(for: Data("RIFF....WEBP".utf8)) != nil)
        #expect(registry.entry(for: Data("RIFF....WAVE".utf8)) == nil)
        #expect(registry.entry(for: Data("RIFF....WEB".utf8)) == nil)
        #expect(registry.entry(for: Data()) == nil)
    }

    @Test func `a profile and an orientation are read beside the pixels`() throws {
        let info = try decoder.inspect(fixture("metadata.webp"), limits: DecodingLimits())
        let image = try decoder.decode(fixture("metadata.webp"), options: DecodingOptions(appliesOrientation: false))

        #expect(info.orientation == .right)
        #expect(info.size == size)
        #expect(image.orientation == .right)
        #expect(image.pixels.tightBytes == Array(try fixture("opaque.rgba")))
        #expect(image.colorProfile == (try fixture("profile.icc")))
    }

    @Test func `the orientation is applied once`() throws {
        let stored = try decoder.decode(fixture("lossless.webp"), options: DecodingOptions()).pixels

        let image = try decoder.decode(fixture("metadata.webp"), options: DecodingOptions())

        #expect(image.orientation == .up)
        #expect(image.size == size.transposed)
        // "Right": the first stored column, from the bottom up, is the first row.
        #expect(image.pixels.rgba(0, 0) == stored.rgba(0, 17))
        #expect(image.pixels.rgba(17, 0) == stored.rgba(0, 0))
        #expect(image.pixels.rgba(0, 13) == stored.rgba(13, 17))
    }

    @Test func `an orientation may have the prefix of JPEG's EXIF`() throws {
        let exif = Array("Exif\0\0".utf8) + Array(try fixture("right.exif"))
        let image = RIFFWriter.image(of: try fixture("lossless.webp"))
        let header = RIFFWriter.extendedHeader(flags: 0x08, width: 14, height: 18)
        let file = RIFFWriter.file([header, image, RIFFWriter.chunk("EXIF", exif)])

        let info = try decoder.inspect(file, limits: DecodingLimits())
        #expect(info.orientation == .right)
        #expect(info.metadata.exif == (try fixture("right.exif")))
    }

    @Test func `a profile over the metadata limit is omitted`() throws {
        func profile(limit: Int) throws -> Data? {
            let limits = DecodingLimits(maximumMetadataByteCount: limit)
            return try decoder.decode(fixture("metadata.webp"), options: DecodingOptions(limits: limits)).colorProfile
        }

        #expect(try profile(limit: 24) == nil)
        #expect(try profile(limit: 25)?.count == 25)
    }
}
