package import Foundation

/// Makes ICC profiles, independently of those that the package writes. Source: ICC.1:2022, sections 7 and 10.
package struct ProfileMaker {
    package var space: String
    package var deviceClass: String
    package var connectionSpace = "XYZ "
    package var version: [UInt8] = [2, 0x40, 0, 0]
    package var tags: [(name: String, element: [UInt8])]

    package init(
        space: String = "RGB ", deviceClass: String = "mntr", tags: [(name: String, element: [UInt8])] = []
    ) {
        (self.space, self.deviceClass, self.tags) = (space, deviceClass, tags)
    }

    package var data: Data {
        var offset = 132 + 12 * tags.count
        var table = Self.number(tags.count)
        var body: [UInt8] = []
        for (name, element) in tags {
            let padded = element + [UInt8](repeating: 0, count: (4 - element.count % 4) % 4)
            table += Array(name.utf8) + Self.number(offset) + Self.number(element.count)
            body += padded
            offset += padded.count
        }
        var header = Self.number(offset) + Array("lcms".utf8) + version
        header += Array((deviceClass + space + connectionSpace).utf8)
        header += [UInt8](repeating: 0, count: 12) + Array("acsp".utf8) + [UInt8](repeating: 0, count: 28)
        header += [0.9642, 1, 0.8249].flatMap(Self.fixed)
        return Data(header + [UInt8](repeating: 0, count: 128 - header.count) + table + body)
    }

    package static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    package static func short(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
    package static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65_536).rounded())) }
    package static func xyz(_ values: [Double]) -> [UInt8] { Array("XYZ \0\0\0\0".utf8) + values.flatMap(fixed) }

    /// Returns a table of samples from 0 to 1.
    package static func curve(_ count: Int, _ light: (Double) -> Double) -> [UInt8] {
        let values = (0..<count).flatMap { short(Int((light(Double($0) / Double(count - 1)) * 65_535).rounded())) }
        return Array("curv\0\0\0\0".utf8) + number(count) + values
    }

    /// Returns a power function in the form of version 2, with eight bits after the point.
    package static func gamma(_ gamma: Double) -> [UInt8] {
        Array("curv\0\0\0\0".utf8) + number(1) + short(Int((gamma * 256).rounded()))
    }

    /// Returns a lut16 element with two grid points per channel.
    ///
    /// - Parameters:
    ///   - channels: The number of input channels.
    ///   - light: The curve of each input channel.
    ///   - color: The X, Y and Z of each grid point.
    package static func table(_ channels: Int, light: (Double) -> Double, color: ([Double]) -> [Double]) -> [UInt8] {
        var bytes = Array("mft2\0\0\0\0".utf8) + [UInt8(channels), 3, 2, 0]
        bytes += [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(fixed) + short(256) + short(2)
        for _ in 0..<channels {
            bytes += (0..<256).flatMap { short(Int((light(Double($0) / 255) * 65_535).rounded())) }
        }
        for point in 0..<1 << channels {
            let samples = (0..<channels).map { Double(point >> (channels - 1 - $0) & 1) }
            // XYZ has fifteen bits after the point.
            bytes += color(samples).flatMap { short(Int(($0 * 32_768).rounded())) }
        }
        for _ in 0..<3 { bytes += short(0) + short(65_535) }
        return bytes
    }

    /// The colorants of Display P3, adapted to D50, as published by Apple.
    package static let p3Colorants = [
        [0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407],
    ]
    /// The colorants of sRGB, adapted to D50.
    package static let sRGBColorants = [
        [0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410],
    ]

    package static func matrix(_ colorants: [[Double]], curve: [UInt8]) -> ProfileMaker {
        let names = ["r", "g", "b"]
        return ProfileMaker(
            tags: zip(names, colorants).map { ("\($0)XYZ", xyz($1)) } + names.map { ("\($0)TRC", curve) })
    }

    package static func gray(_ curve: [UInt8]) -> ProfileMaker {
        ProfileMaker(space: "GRAY", tags: [("wtpt", xyz([0.9642, 1, 0.8249])), ("kTRC", curve)])
    }

    /// Display P3 as a table: the same colors as a matrix and curves give.
    package static var p3Table: ProfileMaker {
        let element = table(3, light: light) { samples in
            (0..<3).map { row in (0..<3).reduce(0) { $0 + max(0, p3Colorants[$1][row]) * samples[$1] } }
        }
        return ProfileMaker(tags: [("A2B0", element)])
    }

    /// Inks that each absorb a share of X, Y or Z, and black, which absorbs all.
    package static var inks: ProfileMaker {
        let element = table(4, light: { $0 }) { ink in
            zip([0.9642, 1, 0.8249], ink).map { $0 * (1 - 0.9 * $1) * (1 - 0.95 * ink[3]) }
        }
        return ProfileMaker(space: "CMYK", deviceClass: "prtr", tags: [("A2B0", element)])
    }

    /// The transfer function of sRGB.
    package static func light(_ v: Double) -> Double { v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4) }

    /// The inverse of ``light(_:)``, clipped.
    package static func sample(_ light: Double) -> Double {
        let v = min(1, max(0, light))
        return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055
    }

    /// Returns a JPEG file with a profile.
    package static func jpeg(_ jpeg: Data, with profile: Data) -> Data {
        let content: [UInt8] = Array("ICC_PROFILE\0".utf8) + [1, 1] + Array(profile)
        let segment: [UInt8] = [0xFF, 0xE2] + short(content.count + 2) + content
        return Data(jpeg.prefix(2)) + Data(segment) + Data(jpeg.dropFirst(2))
    }
}
