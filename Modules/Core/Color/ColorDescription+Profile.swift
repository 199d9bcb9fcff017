package import FoundationEssentials

extension ColorDescription {
    /// Returns the ICC profile of this color space; nil for sRGB, and when the chromaticities are impossible.
    ///
    /// Equal descriptions give equal bytes. The profile has a matrix and curves, and code points in the tag `cicp`.
    /// Source: ICC.1:2022.
    ///
    /// - Parameter isGray: Whether the profile describes gray samples, for which only the transfer function matters.
    package func profile(isGray: Bool) -> Data? {
        guard transfer != .sRGB || !isFullRange || !(isGray || primaries.isBT709) else { return nil }
        guard isGray || primaries.colorants != nil else { return nil }
        var writer = ICCWriter(space: isGray ? "GRAY" : "RGB ")
        writer.add(["desc"], ICCWriter.text(self == .displayP3 ? "Display P3" : "Color space of the file"))
        writer.add(["cprt"], ICCWriter.text("No copyright"))
        writer.add(["wtpt"], ICCWriter.xyz(Matrix3.d50))
        if let adaptation = Matrix3.adaptation(from: primaries.white) {
            writer.add(["chad"], ICCWriter.numbers("sf32", adaptation.rows.flatMap { $0 }))
        }
        if isGray {
            writer.add(["kTRC"], curve)
        } else if let colorants = primaries.colorants {
            writer.add(colorants, curve: curve)
        }
        if let codePoints {
            let range: UInt8 = isFullRange ? 1 : 0
            writer.add(["cicp"], Array("cicp\0\0\0\0".utf8) + [codePoints.primaries, codePoints.transfer, 0, range])
        }
        return writer.data
    }

    /// Creates the description that a profile declares by code points, in the tag `cicp`.
    ///
    /// Returns nil for a profile without the tag, and for the code points for which
    /// ``init(primaries:transfer:isFullRange:)`` returns nil. Source: ICC.1:2022, sections 9.2.17 and 10.3.
    package init?(codePointsOf profile: Data) {
        guard let table = ICCTagTable(profile), let tag = table.tags.first(where: { $0.name == "cicp" }) else {
            return nil
        }
        let element = Array(table.bytes[tag.range])
        // RGB has no matrix coefficients.
        guard element.count >= 12, element.starts(with: "cicp".utf8), element[10] == 0, element[11] <= 1 else {
            return nil
        }
        self.init(primaries: element[8], transfer: element[9], isFullRange: element[11] == 1)
    }

    /// Creates the description of a profile that declares PQ or HLG by code points; nil for any other profile, and for
    /// none. Encoders write these code points instead of the profile, whose curves are those of SDR.
    package init?(highDynamicRangeOf profile: Data?) {
        guard let profile, let description = ColorDescription(codePointsOf: profile),
            description.transfer.systemGamma != nil
        else { return nil }
        self = description
    }

    /// Returns a sample, from 0 to 1, in the full range.
    package func fullRange(_ sample: Double) -> Double {
        isFullRange ? sample : min(1, max(0, (sample * 255 - 16) / 219))
    }

    /// The curve: parameters where they suffice, or else a table.
    private var curve: [UInt8] {
        if isFullRange, case .parametric(let gamma, let a, let b, let c, let d) = transfer {
            let isPower = a == 1 && b == 0 && d == 0
            let header = Array("para\0\0\0\0".utf8) + [0, isPower ? 0 : 3, 0, 0]
            return header + (isPower ? [gamma] : [gamma, a, b, c, d]).flatMap(ICCWriter.fixed)
        }
        let last = 1_023
        let header = Array("curv\0\0\0\0".utf8) + ICCWriter.bigEndian(last + 1)
        return (0...last).reduce(into: header) { bytes, index in
            let sample = Double(index) / Double(last)
            let value = Int((transfer.light(fullRange(sample)) * 65_535).rounded())
            bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
        }
    }
}

extension ICCProfile {
    /// Returns the profile that a file with samples of this kind needs for the colors of an image.
    ///
    /// A gray profile of an image that is stored as RGB becomes an RGB profile with the same curve, in which equal
    /// samples have the same colors as before. It has the primary colors of sRGB, which do not matter for gray. The
    /// result is nil for a gray profile without a curve, or with tables. All other profiles are returned unchanged.
    ///
    /// - Parameters:
    ///   - profile: The profile of the image; nil for none.
    ///   - isGray: Whether the file stores gray samples.
    package static func encoded(_ profile: Data?, isGray: Bool) -> Data? {
        guard !isGray, let gray = profile, describes(gray: true, gray) else { return profile }
        // Curves to Lab instead of XYZ are those of lightness. Tables take precedence over a curve.
        guard let table = ICCTagTable(gray), table.header[20..<24].elementsEqual("XYZ ".utf8),
            let curve = table.tags.first(where: { $0.name == "kTRC" }),
            !table.tags.contains(where: { $0.name.hasPrefix("A2B") || $0.name.hasPrefix("D2B") }),
            let colorants = ColorPrimaries.bt709.colorants
        else { return nil }
        var header = Array(table.header)
        header.replaceSubrange(16..<20, with: Array("RGB ".utf8))
        var writer = ICCWriter(header: header[...])
        for tag in table.tags where ["chad", "cprt", "desc", "wtpt"].contains(tag.name) {
            writer.add([tag.name], Array(table.bytes[tag.range]))
        }
        writer.add(colorants, curve: Array(table.bytes[curve.range]))
        return writer.data
    }
}

extension ICCWriter {
    /// Adds a matrix and a curve for red, green and blue.
    fileprivate mutating func add(_ colorants: Matrix3, curve: [UInt8]) {
        for (index, tag) in ["rXYZ", "gXYZ", "bXYZ"].enumerated() {
            add([tag], Self.xyz(colorants.rows.map { $0[index] }))
        }
        add(["rTRC", "gTRC", "bTRC"], curve)
    }
}

extension ColorPrimaries {
    /// Whether the chromaticities are possible, so that a profile can describe them.
    package var isValid: Bool { colorants != nil }

    /// The colorants, adapted to D50, by row: X, Y and Z of red, green and blue. Nil when the chromaticities are
    /// impossible.
    var colorantRows: [[Double]]? { colorants?.rows }

    /// The colorants, adapted to D50: X, Y, Z of red, green and blue in the columns. Nil when the chromaticities are
    /// impossible.
    fileprivate var colorants: Matrix3? {
        let columns = [red, green, blue].compactMap(Matrix3.xyz)
        guard columns.count == 3, let white = Matrix3.xyz(white), let adaptation = Matrix3.adaptation(from: self.white)
        else { return nil }
        let unscaled = Matrix3(rows: (0..<3).map { row in columns.map { $0[row] } })
        guard let scales = unscaled.inverse?.applied(to: white), scales.allSatisfy({ $0 > 0 && $0 < 1_000 }) else {
            return nil
        }
        let scaled = Matrix3(rows: unscaled.rows.map { row in (0..<3).map { row[$0] * scales[$0] } })
        let colorants = adaptation.multiplied(by: scaled)
        return colorants.rows.joined().allSatisfy { abs($0) < 8 } ? colorants : nil
    }
}

/// A matrix of three rows and columns.
private struct Matrix3 {
    let rows: [[Double]]

    static let d50 = ICCWriter.d50

    /// Returns X, Y and Z with a Y of 1. Nil for an impossible chromaticity.
    static func xyz(_ color: ColorPrimaries.Chromaticity) -> [Double]? {
        guard color.y > 0, color.y <= 1, color.x >= 0, color.x <= 1 else { return nil }
        return [color.x / color.y, 1, (1 - color.x - color.y) / color.y]
    }

    /// Returns the linear Bradford adaptation from a white point to D50. Source: ICC.1:2022, annex E.
    static func adaptation(from white: ColorPrimaries.Chromaticity) -> Matrix3? {
        let cones = Matrix3(rows: [
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        guard let white = xyz(white), let inverse = cones.inverse else { return nil }
        let (from, to) = (cones.applied(to: white), cones.applied(to: d50))
        guard from.allSatisfy({ $0 > 0.01 }) else { return nil }
        let scaled = Matrix3(rows: (0..<3).map { row in cones.rows[row].map { $0 * to[row] / from[row] } })
        return inverse.multiplied(by: scaled)
    }

    func applied(to vector: [Double]) -> [Double] {
        rows.map { row in row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] }
    }

    func multiplied(by other: Matrix3) -> Matrix3 {
        let columns = (0..<3).map { column in applied(to: other.rows.map { $0[column] }) }
        return Matrix3(rows: (0..<3).map { row in columns.map { $0[row] } })
    }

    var inverse: Matrix3? {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r0, r1, c0, c1) = ((row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3)
            return rows[r0][c0] * rows[r1][c1] - rows[r0][c1] * rows[r1][c0]
        }
        let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * minor(0, $1) }
        guard abs(determinant) > 1e-9 else { return nil }
        return Matrix3(rows: (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } })
    }
}
