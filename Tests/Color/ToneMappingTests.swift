import AlcedoColor
import AlcedoCore
import Foundation
import TestSupport
import Testing

/// Images in PQ and HLG, whose tones are mapped to SDR.
@Suite struct ToneMappingTests {
    /// Linear sRGB colors whose largest component is 1: the primary colors, orange, skin, sky and magenta.
    private static let colors: [[Double]] = [
        [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0.25, 0.02], [1, 0.55, 0.38], [0.25, 0.5, 1], [1, 0, 0.6],
    ]

    private let converter = LittleCMSColorConverter()

    /// Returns linear BT.2020 for linear sRGB. Source: ITU-R BT.2087.
    private func bt2020(_ color: [Double]) -> [Double] {
        let matrix = [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]]
        return matrix.map { row in zip(row, color).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// Returns the PQ sample of a luminance in cd/m². Source: ITU-R BT.2100, table 4.
    private func pq(_ luminance: Double) -> UInt16 {
        let y = pow(luminance / 10_000, 0.1593017578125)
        return UInt16((pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375) * 65_535).rounded())
    }

    private func profile(_ transfer: UInt8, _ primaries: UInt8 = 9, isFullRange: Bool = true) throws -> Data {
        let description = ColorDescription(primaries: primaries, transfer: transfer, isFullRange: isFullRange)
        return try #require(description?.profile(isGray: false))
    }

    /// Returns the converted samples of 16-bit colors.
    private func converted(
        _ colors: [[UInt16]], _ profile: Data, to space: OutputColorSpace = .sRGB
    ) throws -> [[Int]] {
        let original = try image(colors.flatMap { $0 + [65_535] }, .rgba16, profile: profile)
        let samples = try converter.converted(original, to: space).samples
        return stride(from: 0, to: samples.count, by: 4).map { Array(samples[$0..<$0 + 3]) }
    }

    @Test(arguments: colors, [5.0, 50, 203, 400, 1_000, 4_000])
    func `a color keeps its hue and its saturation at each luminance`(color: [Double], luminance: Double) throws {
        let samples = bt2020(color).map { pq($0 * luminance) }
        let result = try converted([samples], profile(16))[0].map { ProfileMaker.light(Double($0) / 65_535) }
        let maximum = try #require(result.max())
        // The tolerance is less than a degree of hue.
        for (light, expected) in zip(result, color) { #expect(abs(light / maximum - expected) < 0.005) }
    }

    @Test func `a saturated color becomes lighter up to the peak, and no component exceeds the white`() throws {
        let reds = stride(from: 10.0, through: 4_000, by: 10).map { luminance in
            bt2020([1, 0, 0]).map { pq($0 * luminance) }
        }
        let result = try converted(reds, profile(16)).map { $0[0] }
        #expect(zip(result, result.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(result[39] < result[89])
        #expect(result[99] >= 65_530)
        #expect(result.last == 65_535)
        #expect(try converted([[65_535, 65_535, 65_535]], profile(16))[0].allSatisfy { $0 >= 65_500 })
    }

    /// The sRGB sample, from 0 to 255, for a luminance in cd/m², computed here from BT.2390-11, section 5.4.1, with a
    /// source peak of 1,000 cd/m² and a target peak of 203 cd/m², the reference white of BT.2408.
    private func expected(_ luminance: Double) -> Double {
        let signal = { (luminance: Double) in Double(pq(luminance)) / 65_535 }
        let maximum = signal(203) / signal(1_000)
        let knee = 1.5 * maximum - 0.5
        let source = min(1, signal(luminance) / signal(1_000))
        var target = source
        if source > knee {
            let t = (source - knee) / (1 - knee)
            target =
                (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee)
                + (3 * t * t - 2 * t * t * t) * maximum
        }
        // The EOTF of PQ. Source: ITU-R BT.2100, table 4.
        let root = pow(target * signal(1_000), 1 / 78.84375)
        let light = pow((root - 0.8359375) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125) * 10_000 / 203
        return ProfileMaker.sample(min(1, max(0, light))) * 255
    }

    @Test(arguments: [PixelFormat.rgba8, .rgba16])
    func `a gray ramp has the tones of BT.2390 and never becomes darker`(format: PixelFormat) throws {
        let luminances = [1.0, 5, 26, 50, 88, 100, 150, 203, 300, 400, 600, 1_000, 4_000, 10_000]
        let (scale, unit) = format == .rgba16 ? (1.0, 257.0) : (1 / 257, 1)
        let samples = luminances.map { UInt16((Double(pq($0)) * scale).rounded()) }
        let alpha: UInt16 = format == .rgba16 ? 65_535 : 255
        let ramp = try image(samples.flatMap { [$0, $0, $0, alpha] }, format, profile: profile(16))
        let result = try converter.converted(ramp).samples
        let grays = stride(from: 0, to: result.count, by: 4).map { Double(result[$0]) / unit }
        for (gray, luminance) in zip(grays, luminances) {
            // Half of an 8-bit step of PQ is up to 1.4 levels.
            #expect(abs(gray - expected(luminance)) <= (format == .rgba16 ? 0.3 : 2), "\(luminance) cd/m²")
        }
        #expect(zip(grays, grays.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `gray and white of HDR are those of SDR`() throws {
        // BT.2408, table 1: 38 % of PQ and of HLG is 26 cd/m², gray of 18 %. 58 % and 75 % are 203 cd/m², white.
        let (gray, white) = (expected(26), expected(203))
        // The gray of an SDR image whose white is 203 cd/m², because tones below 88 cd/m² are not changed.
        #expect(abs(gray - ProfileMaker.sample(26.0 / 203) * 255) < 0.1)
        // The rest, up to 255, is for highlights.
        #expect((228...230).contains(white))
        for (transfer, signals) in [(16, [0.38, 0.58]), (18, [0.38, 0.75])] as [(UInt8, [Double])] {
            let samples = signals.map { UInt16(($0 * 65_535).rounded()) }
            let result = try converted(samples.map { [$0, $0, $0] }, profile(transfer))
            for (sample, wanted) in zip(result, [gray, white]) {
                #expect(sample.allSatisfy { abs(Double($0) / 257 - wanted) <= 2 })
            }
            // Without the mapping, white would be dull.
            #expect(signals[1] * 255 < 195)
        }
    }

    @Test(arguments: [UInt8(16), 18])
    func `a plan for a high dynamic range keeps samples and profile of HDR, and converts others`(
        transfer: UInt8
    ) throws {
        let hdr = try image([40_000, 30_000, 20_000, 65_535], .rgba16, profile: profile(transfer))
        let kept = ColorConversionPlan(hdr.rowHeader, to: .sRGB, range: .high, by: converter)
        #expect(kept.convert == nil)
        #expect(kept.header == hdr.rowHeader)
        #expect(ColorConversionPlan(hdr.rowHeader, to: .sRGB, by: converter).header.colorProfile == nil)
        let wide = try image([200, 100, 50, 255], profile: profile(13, 12))
        let plan = ColorConversionPlan(wide.rowHeader, to: .sRGB, range: .high, by: converter)
        #expect(plan.convert != nil)
        #expect(plan.header.colorProfile == nil)
    }

    @Test(arguments: [UInt8(16), 18], [PixelFormat.rgba8, .rgba16])
    func `grays have the tones of the curve`(transfer: UInt8, format: PixelFormat) throws {
        let description = try #require(ColorDescription(primaries: 9, transfer: transfer))
        let scale: UInt16 = format == .rgba16 ? 257 : 1
        let samples = (0...255).flatMap { [UInt16](repeating: $0 * scale, count: 3) + [255 * scale] }
        let expected = try converter.converted(image(samples, format, profile: description.profile(isGray: true)))
        let result = try converter.converted(image(samples, format, profile: description.profile(isGray: false)))
        // The curve is a table with 16 bits, which is coarse near black.
        let tolerance = format == .rgba16 ? 64 : 1
        for (sample, wanted) in zip(result.samples, expected.samples) { #expect(abs(sample - wanted) <= tolerance) }
    }

    @Test(arguments: colors)
    func `the system gamma of HLG depends on luminance`(color: [Double]) throws {
        // ITU-R BT.2100, table 5: 75 % of the signal is a scene light of 0.265.
        let scene = bt2020(color).map { max(0, $0 * 0.265) }
        let samples = scene.map { e -> UInt16 in
            let signal = e <= 1.0 / 12 ? sqrt(3 * e) : 0.17883277 * log(12 * e - 0.28466892) + 0.55991073
            return UInt16((signal * 65_535).rounded())
        }
        let luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
        let display = scene.map { pq(1_000 * pow(luminance, 0.2) * $0) }
        let (hlg, expected) = try (converted([samples], profile(18))[0], converted([display], profile(16))[0])
        for (sample, wanted) in zip(hlg, expected) { #expect(abs(sample - wanted) <= 128) }
    }

    @Test func `a narrow range and Display P3 have the same tones`() throws {
        let narrow = try profile(16, isFullRange: false)
        let grays = try converted([16, 100, 235].map { [$0 * 257, $0 * 257, $0 * 257] }, narrow)
        let full = UInt16((84.0 / 219 * 65_535).rounded())
        #expect(try abs(grays[1][0] - converted([[full, full, full]], profile(16))[0][0]) <= 16)
        #expect(grays[0] == [0, 0, 0])
        #expect(grays[2].allSatisfy { $0 >= 65_500 })
        let red = try converted([[pq(400), 0, 0]], profile(16, 12), to: .displayP3)[0]
        let gray = try converted([[pq(400), pq(400), pq(400)]], profile(16, 12), to: .displayP3)[0]
        #expect(abs(red[0] - gray[0]) <= 16)
        #expect(red[1] < 64)
        #expect(red[2] < 64)
    }

    @Test func `alpha is kept, and premultiplied color equals straight color`() throws {
        let samples: [UInt16] = [180, 100, 50, 255, 180, 100, 50, 128, 9, 9, 9, 0]
        let straight = try image(samples, .rgba8, .straight, profile: profile(16))
        var premultiplied = straight
        premultiplied.pixels = straight.pixels.converted(to: .premultiplied)
        let result = try converter.converted(straight)
        let expected = DecodedImage(pixels: result.pixels.converted(to: .premultiplied)).samples
        #expect(result.samples[7] == 128)
        #expect(result.samples[..<3] == result.samples[4..<7])
        // One level of premultiplied color is two levels of color, and up to four in SDR.
        for (sample, wanted) in zip(try converter.converted(premultiplied).samples, expected) {
            #expect(abs(sample - wanted) <= 4)
        }
    }

    @Test func `the code points of another program's profile count, unless they are damaged`() throws {
        let colors: [[UInt16]] = [[40_000, 20_000, 10_000], [30_000, 45_000, 45_000], [0, 0, 50_000]]
        func result(_ element: [UInt8]) throws -> [[Int]] {
            var made = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(2.2))
            if !element.isEmpty { made.tags.append(("cicp", Array("cicp\0\0\0\0".utf8) + element)) }
            return try converted(colors, made.data)
        }
        let (own, curves) = try (converted(colors, profile(16, 12)), result([]))
        for (sample, wanted) in try zip(result([12, 16, 0, 1]).joined(), own.joined()) {
            #expect(abs(sample - wanted) <= 128)
        }
        for element in [[12, 16, 0], [12, 16, 9, 1], [12, 16, 0, 2], [12, 13, 0, 1], [3, 16, 0, 1]] as [[UInt8]] {
            #expect(try result(element) == curves)
        }
    }
}
