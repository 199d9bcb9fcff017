import AlcedoLibc
package import FoundationEssentials

extension ICCProfile {
    /// Returns the code point of the primary colors of a matrix profile whose curves are those of sRGB: 1 for sRGB, 9
    /// for BT.2020 and 12 for Display P3. Nil for other profiles.
    package static func primariesWithCurveOfSRGB(_ profile: Data) -> UInt8? {
        guard describes(gray: false, profile), let table = ICCTagTable(profile),
            !table.tags.contains(where: { $0.name.hasPrefix("A2B") || $0.name.hasPrefix("D2B") })
        else { return nil }
        func element(_ name: String) -> [UInt8]? {
            table.tags.first { $0.name == name }.map { Array(table.bytes[$0.range]) }
        }
        for name in ["rTRC", "gTRC", "bTRC"] {
            guard let curve = element(name).flatMap(ICCCurve.init),
                stride(from: 0, through: 1, by: 0.125).allSatisfy({
                    abs(curve.light($0) - TransferFunction.sRGB.light($0)) < 0.005
                })
            else { return nil }
        }
        let columns = ["rXYZ", "gXYZ", "bXYZ"].compactMap { element($0).flatMap { ICCCurve.numbers($0) } }
        guard columns.count == 3, columns.allSatisfy({ $0.count >= 3 }) else { return nil }
        return [1, 12, 9].first { codePoint in
            guard let colorants = ColorPrimaries(codePoint: codePoint)?.colorantRows else { return false }
            return (0..<3).allSatisfy { column in
                (0..<3).allSatisfy { abs(colorants[$0][column] - columns[column][$0]) < 0.004 }
            }
        }
    }
}

/// A tone curve of a profile. Source: ICC.1:2022, sections 10.6 and 10.18.
private enum ICCCurve {
    case table([Double])
    case parametric(TransferFunction)

    /// Returns nil for damaged curves, and for parametric ones with an offset, which sRGB does not have.
    init?(_ element: [UInt8]) {
        if element.starts(with: "curv".utf8) {
            guard let count = ICCTagTable.number(at: 8, in: element), count <= (element.count - 12) / 2 else {
                return nil
            }
            let values = (0..<count).map { Double(Int(element[12 + 2 * $0]) << 8 | Int(element[13 + 2 * $0])) }
            switch count {
            case 0: self = .parametric(.power(1))
            case 1: self = .parametric(.power(values[0] / 256))
            default: self = .table(values.map { $0 / 65_535 })
            }
        } else {
            guard element.starts(with: "para".utf8), let numbers = Self.numbers(element, from: 12),
                let kind = ICCTagTable.number(at: 8, in: element)
            else { return nil }
            switch (kind >> 16, numbers.count) {
            case (0, 1...): self = .parametric(.power(numbers[0]))
            case (3, 5...):
                self = .parametric(
                    .parametric(gamma: numbers[0], a: numbers[1], b: numbers[2], c: numbers[3], d: numbers[4]))
            case (4, 7...) where numbers[5] == 0 && numbers[6] == 0:
                self = .parametric(
                    .parametric(gamma: numbers[0], a: numbers[1], b: numbers[2], c: numbers[3], d: numbers[4]))
            default: return nil
            }
        }
    }

    /// Returns the light of a sample, from 0 to 1.
    func light(_ sample: Double) -> Double {
        switch self {
        case .parametric(let function): return function.light(sample)
        case .table(let values):
            let position = sample * Double(values.count - 1)
            let index = min(Int(position), values.count - 2)
            return values[index] + (values[index + 1] - values[index]) * (position - Double(index))
        }
    }

    /// Returns the numbers of an element, which have 16 bits after the point.
    static func numbers(_ element: [UInt8], from start: Int = 8) -> [Double]? {
        guard element.count >= start else { return nil }
        return stride(from: start, through: element.count - 4, by: 4).map {
            let bits = ICCTagTable.number(at: $0, in: element) ?? 0
            return Double(Int32(truncatingIfNeeded: bits)) / 65_536
        }
    }
}
