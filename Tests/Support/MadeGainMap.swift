package import AlcedoCore
package import Foundation
package import Testing

/// The samples that HDR images must have, computed independently of the decoders.
package enum HDRSamples {
    /// Returns the 16-bit sample of PQ for light of which 1 is white. Source: ITU-R BT.2100, table 4; ITU-R BT.2408,
    /// for the white of 203 cd/m².
    package static func pq(_ light: Double) -> Double {
        let y = pow(min(1, max(0, light) * 203 / 10_000), 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375) * 65_535
    }

    /// Returns the 16-bit samples of a pixel.
    package static func samples(_ image: DecodedImage, _ x: Int, _ y: Int) -> [Int] {
        image.pixels.row(y).withUnsafeBytes { row in
            let samples = row.bindMemory(to: UInt16.self)
            return (0..<4).map { Int(samples[4 * x + $0]) }
        }
    }
}

/// The numbers of a gain map for one of red, green and blue.
package struct GainMapNumbers: Sendable {
    package var minimum: Double
    package var maximum: Double
    package var gamma: Double
    package var baseOffset: Double
    package var alternateOffset: Double

    package init(
        minimum: Double = 0, maximum: Double = 2, gamma: Double = 1, baseOffset: Double = 1.0 / 64,
        alternateOffset: Double = 1.0 / 64
    ) {
        (self.minimum, self.maximum, self.gamma) = (minimum, maximum, gamma)
        (self.baseOffset, self.alternateOffset) = (baseOffset, alternateOffset)
    }

    package var list: [Double] { [minimum, maximum, gamma, baseOffset, alternateOffset] }

    /// Returns the 16-bit sample of PQ for samples of the image and of the map, from 0 to 255. Source: Adobe, "Gain
    /// map", section "Displaying the image".
    package func pq(_ sample: Double, _ map: Double) -> Double {
        let recovery = pow(map / 255, 1 / gamma)
        let gain = pow(2, minimum * (1 - recovery) + maximum * recovery)
        return HDRSamples.pq((ProfileMaker.light(sample / 255) + baseOffset) * gain - alternateOffset)
    }

    /// Returns the binary numbers of ISO 21496-1, with a denominator for each fraction.
    package static func binary(
        flags: UInt8 = 0x40, headrooms: [Double] = [0, 2], _ channels: [GainMapNumbers]
    ) -> [UInt8] {
        let fractions = (headrooms + channels.flatMap(\.list)).flatMap { number in
            ProfileMaker.number(Int((number * 4_096).rounded())) + ProfileMaker.number(4_096)
        }
        return [0, 0, 0, 0, flags] + fractions
    }
}

/// The numbers of a gain map of Apple's own form. Source: Apple, "Applying Apple HDR effect to your photos".
package enum AppleGainMap {
    /// Returns the 16-bit sample of PQ for samples of the image and of the map.
    package static func pq(_ sample: Double, _ map: Double, headroom: Double) -> Double {
        let v = map / 255
        let recovery = v < 0.081 ? v / 4.5 : pow((v + 0.099) / 1.099, 1 / 0.45)
        return HDRSamples.pq(ProfileMaker.light(sample / 255) * (1 + (headroom - 1) * recovery))
    }

    /// Returns the XMP packet of the map.
    package static func packet(version: String? = "131072", headroom: String?) -> [UInt8] {
        let attributes = [("Version", version), ("Headroom", headroom)].map { name, value in
            value.map { " HDRGainMap:HDRGainMap\(name)='\($0)'" } ?? ""
        }
        return Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/"\(attributes.joined())/>\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// Returns EXIF data whose maker notes have the tags 33 and 48, in thousandths.
    package static func exif(_ first: Int?, _ second: Int?) -> [UInt8] {
        let tags = [(33, first), (48, second)].compactMap { tag, value in value.map { (tag, $0) } }
        var notes = Array("Apple iOS\0\0\u{1}MM".utf8) + ProfileMaker.short(tags.count)
        let values = 14 + 2 + 12 * tags.count + 4
        for (index, tag) in tags.enumerated() {
            // One signed rational number
            notes += ProfileMaker.short(tag.0) + ProfileMaker.short(10) + ProfileMaker.number(1)
            notes += ProfileMaker.number(values + 8 * index)
        }
        notes += [0, 0, 0, 0] + tags.flatMap { ProfileMaker.number($0.1) + ProfileMaker.number(1_000) }
        let number = ProfileMaker.number
        let photo: [UInt8] = [0x87, 0x69, 0, 4] + number(1) + number(26)
        let maker: [UInt8] = [0x92, 0x7C, 0, 7] + number(notes.count) + number(44)
        let directories = [0, 1] + photo + number(0) + [0, 1] + maker + number(0)
        return Array("MM\0*".utf8) + number(8) + directories + notes
    }
}

extension ImageDecoding {
    /// Expects that the rows, the pieces and the whole image of a file are the same, as they are stored and upright.
    /// Returns the stored image.
    package func expectSameForms(
        of file: Data, _ options: DecodingOptions, location: SourceLocation = #_sourceLocation
    ) throws -> DecodedImage {
        var storedOptions = options
        storedOptions.appliesOrientation = false
        let (stored, upright) = try (decode(file, options: storedOptions), decode(file, options: options))
        #expect(try upright.pixels == stored.pixels.upright(from: stored.orientation), sourceLocation: location)
        #expect(upright.orientation == .up, sourceLocation: location)
        for (options, image) in [(storedOptions, stored), (options, upright)] {
            let collector = PixelRowCollector()
            var options = options
            options.isFiltered = true
            #expect(try decodeRows(file, options: options, into: collector) == nil, sourceLocation: location)
            #expect(collector.image?.pixels == image.pixels, sourceLocation: location)
            #expect(collector.image?.colorProfile == image.colorProfile, sourceLocation: location)
        }
        _ = try previews(of: file, inPiecesOf: 100, options, location: location)
        return stored
    }
}
