import AlcedoColor
import AlcedoCore
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct ColorConverterTests {
    private let converter = LittleCMSColorConverter()
    private let p3 = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.curve(1_024, ProfileMaker.light))

    @Test func `a P3 image becomes the sRGB colors of the specification`() throws {
        let result = try converter.converted(image(grid.flatMap { $0 }, profile: p3.data))
        let expected = grid.flatMap { color in
            sRGB(linearP3: color.prefix(3).map { ProfileMaker.light(Double($0) / 255) }).map { $0 * 255 } + [255]
        }
        #expect(result.colorProfile == nil)
        for (sample, wanted) in zip(result.samples, expected) { #expect(abs(Double(sample) - wanted) <= 1) }
    }

    @Test func `16-bit samples are converted with their full precision`() throws {
        let colors = grid.map { $0.map { $0 * 257 } }
        let result = try converter.converted(image(colors.flatMap { $0 }, .rgba16, profile: p3.data))
        let expected = colors.flatMap { color in
            sRGB(linearP3: color.prefix(3).map { ProfileMaker.light(Double($0) / 65_535) }).map { $0 * 65_535 } + [
                65_535
            ]
        }
        // The tolerance is a quarter of an 8-bit level, because the colorants have five decimals.
        for (sample, wanted) in zip(result.samples, expected) { #expect(abs(Double(sample) - wanted) <= 64) }
    }

    @Test func `sRGB becomes Display P3 and comes back`() throws {
        let original = try image(grid.flatMap { $0 }, profile: nil)
        let wide = try converter.converted(original, to: .displayP3)
        #expect(wide.colorProfile == OutputColorSpace.displayP3.colorProfile)
        #expect(wide.samples != original.samples)
        let back = try converter.converted(wide)
        // A level of the wider space is up to five levels of a dark component in sRGB.
        for (sample, wanted) in zip(back.samples, original.samples) { #expect(abs(sample - wanted) <= 5) }
    }

    @Test(arguments: [1_024, 4_096, 64])
    func `sRGB profiles are recognized by their effect, and the pixels keep their memory`(count: Int) throws {
        let profile = ProfileMaker.matrix(
            ProfileMaker.sRGBColorants, curve: ProfileMaker.curve(count, ProfileMaker.light))
        let original = try image(grid.flatMap { $0 }, profile: profile.data)
        let result = try converter.converted(original)
        #expect(result.pixels.sharesMemory(with: original.pixels))
        #expect(result.colorProfile == nil)
    }

    @Test func `a profile with a gamma of 2.2 is not taken for sRGB`() throws {
        let profile = ProfileMaker.matrix(ProfileMaker.sRGBColorants, curve: ProfileMaker.gamma(2.2))
        let result = try converter.converted(image([10, 10, 10, 255], profile: profile.data))
        #expect(result.samples[0] < 6)
    }

    @Test func `alpha is kept, and premultiplied color equals straight color`() throws {
        let straight = try image(
            [200, 100, 50, 255, 200, 100, 50, 128, 9, 9, 9, 0], .rgba8, .straight, profile: p3.data)
        var premultiplied = straight
        premultiplied.pixels = straight.pixels.converted(to: .premultiplied)
        let result = try converter.converted(straight)
        let other = try converter.converted(premultiplied)
        #expect(result.samples[3] == 255)
        #expect(result.samples[7] == 128)
        #expect(result.samples[11] == 0)
        #expect(result.samples[..<3] == result.samples[4..<7])
        #expect(other.pixels.alphaMode == .premultiplied)
        let expected = DecodedImage(pixels: result.pixels.converted(to: .premultiplied)).samples
        for (sample, wanted) in zip(other.samples, expected) { #expect(abs(sample - wanted) <= 1) }
    }

    @Test(arguments: [PixelFormat.gray8, .rgba8, .rgbx8])
    func `a gray profile applies to gray rows and to gray pixels in color rows`(format: PixelFormat) throws {
        let gray = ProfileMaker.gray(ProfileMaker.gamma(1)).data
        let levels: [UInt16] = [0, 1, 64, 188, 255]
        let samples = format == .gray8 ? levels : levels.flatMap { [$0, $0, $0, 255] }
        let result = try converter.converted(image(samples, format, profile: gray))
        let expected = levels.map { ProfileMaker.sample(Double($0) / 255) * 255 }
        let step = format == .gray8 ? 1 : 4
        for (index, wanted) in expected.enumerated() {
            #expect(abs(Double(result.samples[step * index]) - wanted) <= 1)
        }
    }

    @Test func `profiles apply to rows of 16-bit gray, also longer than a piece`() throws {
        let levels = (0..<700).map { UInt16($0 * 93) }
        let linear = ProfileMaker.gray(ProfileMaker.gamma(1)).data
        let gray = try converter.converted(image(levels, .gray16, profile: linear))
        for (sample, level) in zip(gray.samples, levels) {
            #expect(abs(Double(sample) - ProfileMaker.sample(Double(level) / 65_535) * 65_535) <= 64)
        }
        let profile = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(1)).data
        let color = try converter.converted(image(levels, .gray16, profile: profile), to: .displayP3)
        #expect(color.colorProfile == nil)
        #expect(color.pixels.format == .gray16)
        for (sample, expected) in zip(color.samples, gray.samples) { #expect(abs(sample - expected) <= 257) }
    }

    @Test func `an RGB profile applies to gray rows`() throws {
        let profile = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(1)).data
        let result = try converter.converted(image([0, 64, 255], .gray8, profile: profile), to: .displayP3)
        #expect(abs(result.samples[1] - 137) <= 1)
        #expect(result.samples[0] == 0)
        #expect(result.samples[2] == 255)
        #expect(result.colorProfile == nil)
    }

    @Test(arguments: [PixelFormat.rgba8, .rgba16])
    func `a profile with tables gives the colors of the equal matrix`(format: PixelFormat) throws {
        let scale: UInt16 = format == .rgba16 ? 257 : 1
        let samples = grid.flatMap { $0.map { $0 * scale } }
        let table = try converter.converted(image(samples, format, profile: ProfileMaker.p3Table.data))
        let matrix = try converter.converted(image(samples, format, profile: p3.data))
        // Little CMS interpolates between the points of a cube, which differs most where a component is clipped.
        let differences = zip(table.samples, matrix.samples).map { abs($0 - $1) }
        #expect(differences.allSatisfy { $0 <= 16 * Int(scale) })
        #expect(differences.reduce(0, +) <= 2 * Int(scale) * differences.count)
    }

    @Test func `animation frames are converted when they are requested`() throws {
        let first = try image([200, 100, 50, 255], profile: p3.data)
        var animated = first
        animated.frames = MadeFrames(
            first.size, [(first.pixels, .milliseconds(50)), (first.pixels, .milliseconds(70))])
        let result = try converter.converted(animated)
        let frames = try #require(result.frames)
        #expect(try frames.frame(at: 1) == result.pixels)
        #expect(frames.delay(at: 1) == .milliseconds(70))
        #expect(result.samples != first.samples)
    }

    @Test func `converted rows equal the converted image`() throws {
        let original = try image(grid.flatMap { $0 }, profile: p3.data)
        let collector = PixelRowCollector()
        try original.sendRows(to: ColorConvertedRows(to: .displayP3, by: converter, next: collector))
        let whole = try converter.converted(original, to: .displayP3)
        #expect(collector.image?.pixels == whole.pixels)
        #expect(collector.image?.colorProfile == whole.colorProfile)
    }

    @Test func `an image whose pixels are not shared is converted in place`() throws {
        var pixel = try image([200, 100, 50, 255], profile: p3.data)
        let expected = try converter.converted(pixel)
        func address() -> UInt { pixel.pixels.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        let before = address()
        let plan = ColorConversionPlan(pixel.rowHeader, to: .sRGB, by: converter)
        plan.apply(to: &pixel, by: converter, .sRGB)
        #expect(pixel.pixels == expected.pixels)
        #expect(address() == before)
    }

    @Test func `several threads use one conversion at the same time`() async throws {
        let pixels = try image(grid.flatMap { $0 }, profile: ProfileMaker.p3Table.data)
        let expected = try converter.converted(pixels).pixels
        let results = try await withThrowingTaskGroup(of: PixelBuffer.self, returning: [PixelBuffer].self) { group in
            for _ in 0..<8 { group.addTask { [converter] in try converter.converted(pixels).pixels } }
            var results: [PixelBuffer] = []
            for try await result in group { results.append(result) }
            return results
        }
        #expect(results.count == 8)
        #expect(results.allSatisfy { $0 == expected })
    }

    @Test func `nothing is converted to the color space of the file`() throws {
        let original = try image([200, 100, 50, 255], profile: p3.data)
        let result = try converter.converted(original, to: .embedded)
        #expect(result.pixels.sharesMemory(with: original.pixels))
        #expect(result.colorProfile == original.colorProfile)
    }
}

@Suite struct ColorConverterConformanceTests {
    @Test(arguments: ColorConverterConformance.checks)
    func `Little CMS conforms`(to check: ColorConverterConformance.Check) async throws {
        try await check { _ in LittleCMSColorConverter() }
    }
}
