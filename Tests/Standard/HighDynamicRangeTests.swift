import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoProgramSupport
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Images in PQ and HLG, in files of each format that can hold them.
@Suite(.timeLimit(.minutes(5)))
struct HighDynamicRangeTests {
    /// A color space and an encoder.
    struct Case: Sendable, CustomTestStringConvertible {
        var transfer: UInt8
        var primaries: UInt8
        var encoder: ImageEncoder
        /// The maximum difference of a sample of 16 bits.
        var tolerance: Int

        var testDescription: String { "\(encoder.format), code points \(primaries) and \(transfer)" }
    }

    private static let encoders: [(encoder: ImageEncoder, tolerance: Int)] = {
        var encoders: [(encoder: ImageEncoder, tolerance: Int)] = [(.png(), 0)]
        // AVIF has 10 bits, or losslessly 12.
        #if AVIF
            encoders += [(.avif(lossless: true, speed: 10), 8), (.avif(quality: 100, speed: 10), 400)]
        #endif
        #if JXL
            encoders += [(.jxl(lossless: true, effort: 3), 0), (.jxl(distance: 0.1, effort: 3), 1_000)]
        #endif
        return encoders
    }()

    static let cases: [Case] = encoders.flatMap { item in
        ([(16, 9), (18, 9), (16, 12), (18, 1)] as [(UInt8, UInt8)]).map { transfer, primaries in
            Case(transfer: transfer, primaries: primaries, encoder: item.encoder, tolerance: item.tolerance)
        }
    }

    private static let codecs = CodecRegistry.programs

    /// The signals of the stripes.
    private static let signals = [0.38, 0.58, 0.7]
    /// The samples of the first two stripes in SDR: 26 and 203 cd/m² in PQ, and 26 and 76 cd/m² in HLG. Source:
    /// ITU-R BT.2408, table 1; ITU-R BT.2100, table 5.
    private static let standardSamples = [16: [100, 229], 18: [100, 165]] as [UInt8: [Int]]

    /// Returns an image of vertical stripes of gray, below a bar of red if it has color.
    private func image(
        _ profile: Data, _ format: PixelFormat = .rgba16, hasColor: Bool = false
    ) throws -> DecodedImage {
        let maximum = format.isDeep ? 65_535.0 : 255
        let pixels = PixelBuffer(
            size: PixelSize(width: 48, height: 32), format: format, alphaMode: .opaque
        ) { memory, stride in
            for y in 0..<32 {
                for x in 0..<48 {
                    let level = (Self.signals[x / 16] * maximum).rounded()
                    for channel in 0..<4 {
                        let isDark = hasColor && y < 8 && (1...2).contains(channel)
                        let value = channel == 3 ? maximum : isDark ? 0 : level
                        if format.isDeep {
                            memory.storeBytes(
                                of: UInt16(value), toByteOffset: y * stride + 8 * x + 2 * channel, as: UInt16.self)
                        } else {
                            memory[y * stride + 4 * x + channel] = UInt8(value)
                        }
                    }
                }
            }
        }
        return DecodedImage(pixels: try #require(pixels), colorProfile: profile)
    }

    private func profile(_ primaries: UInt8, _ transfer: UInt8) throws -> Data {
        try #require(ColorDescription(primaries: primaries, transfer: transfer)?.profile(isGray: false))
    }

    /// Returns red of the middle of each stripe.
    private func samples(_ image: DecodedImage) -> [Int] {
        let pixels = image.pixels
        let isDeep = pixels.format.isDeep
        return pixels.row(24).withUnsafeBytes { row in
            [8, 24, 40].map { x in isDeep ? Int(row.bindMemory(to: UInt16.self)[4 * x]) : Int(row[4 * x]) }
        }
    }

    @Test(arguments: cases)
    func `an encoder writes code points, and the decoder returns the same samples and profile`(_ item: Case) throws {
        // A gray image has no primaries.
        let original = try image(profile(item.primaries, item.transfer), hasColor: true)

        let file = try item.encoder.encode(original)

        let info = try Self.codecs.inspect(file)
        #expect(info.colorDescription == ColorDescription(primaries: item.primaries, transfer: item.transfer))
        let decoded = try Self.codecs.decode(file, options: DecodingOptions(pixelFormat: .rgba16))
        #expect(decoded.colorProfile == original.colorProfile)
        #expect(decoded.pixels.format == .rgba16)
        for (sample, wanted) in zip(samples(decoded), samples(original)) {
            #expect(abs(sample - wanted) <= item.tolerance)
        }
    }

    @Test(arguments: cases)
    func `a conversion gives SDR by default, and HDR on request`(_ item: Case) throws {
        let source = try ImageEncoder.png().encode(image(profile(item.primaries, item.transfer)))

        let standard: Data = try ImageConverter(codecs: Self.codecs).convert(source, to: item.encoder)
        let high: Data = try ImageConverter(codecs: Self.codecs, dynamicRange: .high).convert(source, to: item.encoder)

        let sdr = try Self.codecs.decode(standard)
        #expect(sdr.colorProfile == nil)
        for (sample, wanted) in zip(samples(sdr), Self.standardSamples[item.transfer] ?? []) {
            #expect(abs(sample - wanted) <= 3)
        }
        let hdr = try Self.codecs.inspect(high)
        #expect(hdr.colorDescription?.transfer == (item.transfer == 16 ? .pq : .hlg))
        #expect(hdr.bitDepth > 8)
        // A file of SDR is the same in both ranges.
        let again = try [DynamicRange.standard, .high].map {
            try ImageConverter(codecs: Self.codecs, dynamicRange: $0).convert(standard, to: .png()) as Data
        }
        #expect(again[0] == again[1])
    }

    @Test func `formats with samples of 8 bits get SDR`() throws {
        let source = try ImageEncoder.png().encode(image(profile(9, 16)))
        for encoder in [ImageEncoder.jpeg(quality: 100), .webp(lossless: true), .gif()] {
            let result = try ImageConverter(dynamicRange: .high).convert(source, to: encoder)
            let decoded = try CodecRegistry.standard.decode(result)
            #expect(decoded.colorProfile == nil)
            for (sample, wanted) in zip(samples(decoded), Self.standardSamples[16] ?? []) {
                #expect(abs(sample - wanted) <= 3)
            }
        }
    }

    @Test func `code points come before the palette, and a limited range stays limited`() throws {
        let narrow = try #require(ColorDescription(primaries: 9, transfer: 16, isFullRange: false))
        for profile in [try profile(9, 16), try #require(narrow.profile(isGray: false))] {
            let file = try ImageEncoder.png().encode(image(profile, .rgba8))
            let names = ["cICP", "PLTE", "IDAT"].map { file.firstRange(of: Data($0.utf8))?.lowerBound ?? 0 }
            #expect(names == names.sorted())
            #expect(names[0] > 0)
            #expect(try CodecRegistry.standard.decode(file).colorProfile == profile)
        }
    }

    @Test func `a pipeline gives SDR by default, and HDR with the depth of the file on request`() async throws {
        let file = try ImageEncoder.png().encode(image(profile(9, 16)))
        let pipeline = ImagePipeline(.standard(cacheDirectory: nil))
        var request = ImageRequest(source: .bytes(file, identity: "a"))
        let sdr = try await pipeline.image(for: request)
        let standardKey = request.key
        request.decoding.dynamicRange = .high
        request.processors = [.resize(width: 24)]
        let hdr = try await pipeline.image(for: request)

        #expect(sdr.colorProfile == nil)
        #expect(sdr.pixels.format == .rgba8)
        #expect(try hdr.colorProfile == profile(9, 16))
        #expect(hdr.pixels.format == .rgba16)
        request.processors = []
        #expect(request.key != standardKey)
    }
}
