import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport
import Testing

/// Files with a gain map, decoded in SDR by default and in HDR on request.
@Suite struct JPEGGainMapTests {
    private let decoder = JPEGDecoder()
    private let size = PixelSize(width: 32, height: 24)

    private func options(
        _ range: DynamicRange = .high, _ change: (inout DecodingOptions) -> Void = { _ in }
    ) -> DecodingOptions {
        var options = DecodingOptions()
        options.dynamicRange = range
        change(&options)
        return options
    }

    /// Returns a file of one color or gray.
    private func flat(_ color: [UInt8], _ size: PixelSize? = nil) -> Data {
        let size = size ?? self.size
        return JPEGMaker(chroma: color.count == 1 ? nil : (1, 1)).file(width: size.width, height: size.height) { _, _ in
            color
        }
    }

    /// Returns a file of gray levels that increase from left to right and from top to bottom.
    private func ramp(_ size: PixelSize) -> Data {
        JPEGMaker().file(width: size.width, height: size.height) { x, y in
            [UInt8(40 + 100 * x / size.width + 100 * y / size.height)]
        }
    }

    @Test func `by default, a file with a gain map is its image`() throws {
        let image = ramp(size)
        let file = GainMapFile(image: image, map: flat([200])).data

        let decoded = try decoder.decode(file)

        #expect(try decoded.pixels == decoder.decode(image).pixels)
        #expect(decoded.pixels.format == .rgba8)
        #expect(decoded.colorProfile == nil)
        #expect(decoded.damage == nil)
        #expect(try decoder.decodingByteCount(file) == decoder.decodingByteCount(image))
    }

    @Test(arguments: [[0], [128], [255], [0, 255, 128]] as [[UInt8]], [false, true])
    func `samples are those of the formula`(map: [UInt8], isBinary: Bool) throws {
        var numbers = [GainMapNumbers](repeating: GainMapNumbers(minimum: -0.5, maximum: 2.25, gamma: 0.75), count: 3)
        if map.count == 3 {
            numbers[1] = GainMapNumbers(minimum: 0, maximum: 3, gamma: 1, baseOffset: 0, alternateOffset: 0.125)
            numbers[2] = GainMapNumbers(minimum: 0.25, maximum: 0.25, gamma: 2)
        }
        let color: [UInt8] = [180, 60, 20]
        var file = GainMapFile(image: flat(color), map: flat(map))
        if isBinary {
            let channels = map.count == 3 ? numbers : [numbers[0]]
            file.numbers = GainMapNumbers.binary(flags: map.count == 3 ? 0xC0 : 0x40, channels)
        } else {
            let names = ["GainMapMin", "GainMapMax", "Gamma", "OffsetSDR", "OffsetHDR"]
            for (index, name) in names.enumerated() {
                let values = numbers.map { "\($0.list[index])" }
                file.properties[name] = map.count == 3 ? values.joined(separator: ",") : values[0]
            }
        }

        let decoded = try decoder.decode(file.data, options: options())

        #expect(decoded.damage == nil)
        #expect(decoded.pixels.format == .rgba16)
        #expect(decoded.pixels.alphaMode == .opaque)
        #expect(decoded.colorProfile == ColorDescription(primaries: 1, transfer: 16)?.profile(isGray: false))
        let stored = try decoder.decode(file.image).pixels.rgba(9, 9)
        let storedMap = try decoder.decode(file.map).pixels.rgba(9, 9)
        let result = HDRSamples.samples(decoded, 9, 9)
        for channel in 0..<3 {
            let expected = numbers[channel].pq(Double(stored[channel]), Double(storedMap[channel]))
            #expect(abs(Double(result[channel]) - expected) < 16, "\(channel)")
        }
        #expect(result[3] == 65_535)
    }

    @Test func `numbers with one denominator, and default values, are read`() throws {
        let (image, map) = (flat([120]), flat([255]))
        let expected = try decoder.decode(GainMapFile(image: image, map: map).data, options: options())
        var file = GainMapFile(image: image, map: map)
        let integers = [64, 0, 128, 0, 128, 64, 1, 1]
        file.numbers = [0, 0, 0, 0, 0x48] + integers.flatMap(GainMapFile.bigEndian)

        #expect(try decoder.decode(file.data, options: options()).pixels == expected.pixels)
        let (stored, storedMap) = try (decoder.decode(image).pixels.rgba(3, 3), decoder.decode(map).pixels.rgba(3, 3))
        let wanted = GainMapNumbers().pq(Double(stored[0]), Double(storedMap[0]))
        #expect(abs(Double(HDRSamples.samples(expected, 3, 3)[0]) - wanted) < 16)
    }

    @Test func `a smaller map is stretched and interpolated`() throws {
        let map = JPEGMaker().file(width: 8, height: 8) { x, _ in [UInt8(16 + 32 * x)] }
        let file = GainMapFile(image: flat([100]), map: map)

        let decoded = try decoder.decode(file.data, options: options())

        let reds = (0..<32).map { HDRSamples.samples(decoded, $0, 12)[0] }
        // Four pixels for each sample of the map, whose centers are between the second and the third.
        #expect(zip(reds[2..<30], reds[3..<30]).allSatisfy { $0 < $1 })
        #expect(reds[0] == reds[1])
        #expect(reds[30] == reds[31])
        #expect((0..<24).allSatisfy { HDRSamples.samples(decoded, 20, $0)[0] == reds[20] })
        let (stored, storedMap) = try (
            decoder.decode(file.image).pixels.rgba(0, 0), decoder.decode(map).pixels.rgba(4, 4)
        )
        let wanted = GainMapNumbers().pq(Double(stored[0]), Double(storedMap[0]))
        #expect(abs(Double(reds[17] + reds[18]) / 2 - wanted) < 64)
    }

    @Test(arguments: [UInt8(1), 3, 6])
    func `rows, pieces and the whole image are the same in each orientation`(orientation: UInt8) throws {
        let image = JPEGEditor.inserting(JPEGEditor.exif(orientation: orientation), into: ramp(size))
        let file = GainMapFile(image: image, map: ramp(PixelSize(width: 16, height: 12))).data

        let stored = try decoder.expectSameForms(of: file, options())

        #expect(stored.pixels.format == .rgba16)
        #expect(stored.orientation.rawValue == Int(orientation))
    }

    @Test func `the target does not reduce an HDR image`() throws {
        let file = GainMapFile(image: ramp(size), map: flat([200])).data
        let target = TargetSize(width: 4, height: 4)
        #expect(try decoder.decode(file, options: options { $0.target = target }).size == size)
        #expect(try decoder.decode(file, options: options(.standard) { $0.target = target }).size != size)
    }

    @Test func `Display P3 is kept, and the gains of other color spaces are ignored`() throws {
        let map = flat([200])
        let wide = try #require(OutputColorSpace.displayP3.colorProfile)
        let other = ProfileMaker.matrix(ProfileMaker.p3Colorants, curve: ProfileMaker.gamma(1.8)).data
        func decoded(_ profile: Data, map: Data, flags: UInt8 = 0x40) throws -> DecodedImage {
            let image = JPEGEditor.inserting(JPEGEditor.profile(profile, number: 1, of: 1), into: flat([99, 150, 7]))
            var file = GainMapFile(image: image, map: map)
            file.numbers = GainMapNumbers.binary(flags: flags, [GainMapNumbers()])
            return try decoder.decode(file.data, options: options())
        }
        let p3 = ColorDescription(primaries: 12, transfer: 16)?.profile(isGray: false)
        #expect(try decoded(wide, map: map).colorProfile == p3)
        #expect(try decoded(other, map: map).colorProfile == other)
        #expect(try decoded(other, map: map).damage?.error.code == .unsupportedVariant)
        // A map of its own color space has gains for that space.
        #expect(try decoded(wide, map: map, flags: 0).colorProfile == wide)
        let wideMap = JPEGEditor.inserting(JPEGEditor.profile(wide, number: 1, of: 1), into: map)
        #expect(try decoded(wide, map: wideMap, flags: 0).colorProfile == p3)
    }

    /// Changes of a file whose map then cannot be used.
    private static let changes: [(name: String, change: @Sendable (inout GainMapFile) -> Void)] = [
        ("an offset outside of the file", { $0.offset = 1 << 31 }),
        ("an offset within the image", { $0.offset = 30 }),
        ("an empty map", { $0.byteCount = 0 }),
        ("a map of three bytes", { $0.byteCount = 3 }),
        ("a map without its end", { $0.byteCount = $0.mapFile.count - 40 }),
        ("a map that is no image", { $0.map = Data([0xFF, 0xD8, 0xFF, 0xD9]) }),
        ("a map larger than the image", { $0.map = JPEGMaker().file(width: 40, height: 8) { _, _ in [9] } }),
        ("no maximum", { $0.properties["GainMapMax"] = nil }),
        ("an infinite gain", { $0.properties["GainMapMax"] = "inf" }),
        ("a gain that is no number", { $0.properties["GainMapMin"] = "nan" }),
        ("a huge gain", { $0.properties["GainMapMax"] = "1e308" }),
        ("a gain that is text", { $0.properties["GainMapMax"] = "high" }),
        ("two gains", { $0.properties["GainMapMax"] = "1,2" }),
        ("a minimum above the maximum", { $0.properties["GainMapMin"] = "3" }),
        ("a gamma of zero", { $0.properties["Gamma"] = "0" }),
        ("a huge offset", { $0.properties["OffsetHDR"] = "1e30" }),
        ("another version", { $0.properties["Version"] = "2.0" }),
        ("an image in HDR", { $0.properties["BaseRenditionIsHDR"] = "True" }),
        ("a headroom of SDR", { ($0.properties["HDRCapacityMin"], $0.properties["HDRCapacityMax"]) = ("2", "1") }),
        ("no binary numbers", { $0.numbers = [] }),
        ("binary numbers of another version", { $0.numbers = [0, 1, 0, 0, 0x40] }),
        ("binary numbers that end early", { $0.numbers = [0, 0, 0, 0, 0x40, 0, 0, 0, 1] }),
        ("a denominator of zero", { $0.numbers = [0, 0, 0, 0, 0x48] + [UInt8](repeating: 0, count: 80) }),
    ]

    @Test(arguments: changes.indices)
    func `a map that cannot be used is ignored and reported`(index: Int) throws {
        var file = GainMapFile(image: ramp(size), map: flat([200]))
        Self.changes[index].change(&file)
        let expected = try decoder.decode(file.image)

        let decoded = try decoder.decode(file.data, options: options())

        #expect(decoded.pixels == expected.pixels, "\(Self.changes[index].name)")
        #expect(decoded.colorProfile == nil)
        #expect(decoded.damage?.kind == .harmless)
        #expect(decoded.damage?.message.contains("the gain map is") == true)
        let collector = PixelRowCollector()
        #expect(try decoder.decodeRows(file.data, options: options(), into: collector)?.kind == .harmless)
        #expect(collector.image?.pixels == expected.pixels)
        #expect(try decoder.decode(file.data).damage == nil)
    }

    @Test func `an image without a map is the same in both ranges`() throws {
        for name in ["420.jpg", "gray.jpg", "cmyk.jpg", "progressive.jpg", "exif6.jpg"] {
            let file = try fixture(name)
            let (standard, high) = try (decoder.decode(file), decoder.decode(file, options: options()))
            #expect(standard.pixels == high.pixels)
            #expect(standard.colorProfile == high.colorProfile)
            #expect(high.damage == nil)
        }
    }

    @Test func `every prefix of a file gives SDR, HDR or an error`() throws {
        let file = GainMapFile(image: ramp(size), map: flat([200])).data
        for count in 0..<file.count {
            let options = options { $0.allowsPartial = true }
            guard let image = try? decoder.decode(file.prefix(count), options: options) else { continue }
            // The last bytes of the map are only its end mark.
            #expect(image.pixels.format == .rgba16 ? count > file.count - 8 : image.damage != nil)
        }
    }

    /// The numbers of the test of libultrahdr's forms, which writes offsets of a ten-millionth.
    private static let smallOffsets = GainMapNumbers(maximum: 2.3, baseOffset: 1e-7, alternateOffset: 1e-7)

    /// Returns the binary numbers of ``smallOffsets``, with another maximum for green if there are three channels.
    /// libultrahdr writes one denominator of all fractions, as in a draft, if they have the same.
    private func binaryNumbers(channelCount: Int, hasOneDenominator: Bool) -> [UInt8] {
        let maximums = channelCount == 3 ? [2.3, 1.1, 2.3] : [2.3]
        let values: [Double] = [0, 2.3] + maximums.flatMap { (maximum: Double) in [0, maximum, 1, 1e-7, 1e-7] }
        func fraction(_ value: Double) -> [UInt8] {
            let denominator = value == 1e-7 || hasOneDenominator ? 10_000_000 : 10
            let numerator = GainMapFile.bigEndian(Int((value * Double(denominator)).rounded()))
            return hasOneDenominator ? numerator : numerator + GainMapFile.bigEndian(denominator)
        }
        let flags = UInt8(0x40 | (channelCount == 3 ? 0x80 : 0) | (hasOneDenominator ? 8 : 0))
        let common = hasOneDenominator ? GainMapFile.bigEndian(10_000_000) : []
        return [0, 0, 0, 0, flags] + common + values.flatMap(fraction)
    }

    /// libultrahdr 1.4 can be built to write XMP, the binary form, or both.
    @Test(arguments: [0, 1, 3], [false, true])
    func `the forms in which libultrahdr writes the numbers are read`(channelCount: Int, flag: Bool) throws {
        let (image, map) = (flat([180, 60, 20]), flat([40, 200, 90]))
        var file = GainMapFile(image: image, map: map)
        // As its writer of XMP formats them
        file.properties = [
            "Version": "1.0", "GainMapMin": "0", "GainMapMax": "2.3", "Gamma": "1", "OffsetSDR": "1e-07",
            "OffsetHDR": "1e-07", "HDRCapacityMin": "0", "HDRCapacityMax": "2.3", "BaseRenditionIsHDR": "False",
        ]
        if channelCount > 0 {
            file.numbers = binaryNumbers(channelCount: channelCount, hasOneDenominator: flag)
            #expect(file.numbers?.count == [1: [61, 37], 3: [141, 77]][channelCount]?[flag ? 1 : 0])
        } else if flag {
            file.properties["GainMapMax"] = "2.3,1.1,2.3"
        }
        let hasSeveral = channelCount == 3 || channelCount == 0 && flag

        for hasBothForms in [false, true] {
            file.hasBothForms = hasBothForms
            let decoded = try decoder.decode(file.data, options: options())

            #expect(decoded.damage == nil)
            let stored = try decoder.decode(image).pixels.rgba(9, 9)
            let storedMap = try decoder.decode(map).pixels.rgba(9, 9)
            for (channel, sample) in HDRSamples.samples(decoded, 9, 9).prefix(3).enumerated() {
                var numbers = Self.smallOffsets
                if channel == 1, hasSeveral { numbers.maximum = 1.1 }
                let expected = numbers.pq(Double(stored[channel]), Double(storedMap[channel]))
                #expect(abs(Double(sample) - expected) < 16, "\(channel)")
            }
        }
    }

    @Test func `binary numbers take precedence over XMP, which counts when they cannot be used`() throws {
        var file = GainMapFile(image: flat([120]), map: flat([255]))
        file.properties["GainMapMax"] = "1"
        let xmp = try decoder.decode(file.data, options: options()).pixels
        file.numbers = GainMapNumbers.binary([GainMapNumbers()])
        let binary = try decoder.decode(file.data, options: options()).pixels
        file.hasBothForms = true
        #expect(try decoder.decode(file.data, options: options()).pixels == binary)
        #expect(xmp != binary)
        // The form of a draft, and damage
        for unusable in [[0, 2] + Array(repeating: 0, count: 56), [0, 0, 0, 0, 0x40], []] as [[UInt8]] {
            file.numbers = unusable
            let decoded = try decoder.decode(file.data, options: options())
            #expect(decoded.pixels == xmp)
            #expect(decoded.damage == nil)
        }
    }

    /// The second tag decides between two formulas, and the first one between two pairs of them.
    @Test(arguments: [
        (500, 5, 1.7), (500, 1_000, 1.5), (1_000, 5, 2.65), (1_200, 1_000, 2.0), (500, 20_000, 0),
    ])
    func `the gain of a map of Apple's own form is in the maker notes`(
        first: Int, second: Int, stops: Double
    ) throws {
        let (image, map) = (flat([180, 60, 20]), flat([200]))
        let exif = JPEGEditor.segment(0xE1, Array("Exif\0\0".utf8) + AppleGainMap.exif(first, second))
        func packet(_ xmp: [UInt8]) -> [UInt8] {
            JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp)
        }
        var file = GainMapFile(image: JPEGEditor.inserting(exif, into: image), map: map)
        file.packet = packet(AppleGainMap.packet(version: "65536", headroom: nil))

        let decoded = try decoder.decode(file.data, options: options())

        #expect(decoded.damage == nil)
        let stored = try decoder.decode(image).pixels.rgba(9, 9)
        let storedMap = try decoder.decode(map).pixels.rgba(9, 9)
        for (channel, sample) in HDRSamples.samples(decoded, 9, 9).prefix(3).enumerated() {
            let expected = AppleGainMap.pq(Double(stored[channel]), Double(storedMap[0]), headroom: pow(2, stops))
            #expect(abs(Double(sample) - expected) < 16, "\(channel)")
        }
        #expect(try decoder.decode(file.data).damage == nil)
        // The packet of the second version has the gain itself.
        file.packet = packet(AppleGainMap.packet(headroom: "\(pow(2, stops))"))
        let again = try decoder.decode(file.data, options: options())
        for (a, b) in zip(HDRSamples.samples(again, 9, 9), HDRSamples.samples(decoded, 9, 9)) {
            #expect(abs(a - b) <= 1)
        }
    }

    @Test(arguments: [2, 3, 14])
    func `the first three images of an index are searched for a map`(count: Int) throws {
        var file = GainMapFile(image: ramp(size), map: flat([200]))
        let expected = try decoder.decode(file.data, options: options()).pixels
        file.otherImages = Array(repeating: flat([9]), count: count)

        let decoded = try decoder.decode(file.data, options: options())

        if count < 3 {
            #expect(decoded.pixels == expected)
            #expect(decoded.damage == nil)
        } else {
            #expect(try decoded.pixels == decoder.decode(file.image).pixels)
            #expect(decoded.damage?.message == "JPEG: the gain map is ignored: the gain map is missing")
        }
    }

    @Test func `entries of an index that are no images are not counted`() throws {
        var file = GainMapFile(image: ramp(size), map: flat([200]))
        let expected = try decoder.decode(file.data, options: options()).pixels
        file.otherImages = Array(repeating: Data("a video, or something else".utf8), count: 10)
        #expect(try decoder.decode(file.data, options: options()).pixels == expected)
    }

    @Test func `the reported memory includes the map and the HDR image`() throws {
        let size = PixelSize(width: 640, height: 480)
        let file = GainMapFile(image: ramp(size), map: flat([200], size)).data
        let standard = try decoder.decodingByteCount(file)
        let high = try decoder.decodingByteCount(file, options: options())
        // Four bytes per pixel, and then eight and up to four more.
        #expect(high >= standard + 9 * 640 * 480)
        let rows = try decoder.decodingByteCount(file, options: options { $0.isFiltered = true })
        #expect(rows < high / 2)
    }

    @Test func `an image whose HDR exceeds the limits is shown in SDR`() throws {
        let size = PixelSize(width: 640, height: 480)
        let file = GainMapFile(image: ramp(size), map: flat([200], size)).data
        let standard = try decoder.decode(file)
        let standardCount = try decoder.decodingByteCount(file)
        let highCount = try decoder.decodingByteCount(file, options: options())
        func limited(_ byteCount: Int) -> DecodingOptions {
            options { $0.limits = DecodingLimits(maximumByteCount: byteCount) }
        }

        // Too few for the HDR image, and too few for all images together
        for byteCount in [7 * 640 * 480, highCount - 1] {
            let limited = limited(byteCount)
            let decoded = try decoder.decode(file, options: limited)
            #expect(decoded.pixels == standard.pixels)
            #expect(decoded.colorProfile == nil)
            #expect(decoded.damage?.kind == .harmless)
            #expect(decoded.damage?.error.code == .exceedsLimit)
            #expect(try decoder.decodingByteCount(file, options: limited) == standardCount)
            let collector = PixelRowCollector()
            #expect(try decoder.decodeRows(file, options: limited, into: collector)?.error.code == .exceedsLimit)
            #expect(collector.image?.pixels == standard.pixels)
        }
        let high = try decoder.decode(file, options: limited(highCount))
        #expect(high.pixels.format == .rgba16)
        #expect(high.damage == nil)
        // Too few for SDR
        #expect { try decoder.decode(file, options: limited(640 * 480)) } throws: {
            ($0 as? ImageDecodingError)?.code == .exceedsLimit
        }
    }
}
