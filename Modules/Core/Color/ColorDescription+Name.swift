extension ColorDescription {
    /// The name of the color space for people, such as `Display P3`, `BT.2020 PQ` or `gamma 0.45455`. Nil when the file
    /// states by its code points that the color space is unspecified.
    ///
    /// The primaries of sRGB are named only with code points, because a gamma often comes without primaries. A gamma is
    /// the exponent of encoding, as in PNG. The transfer function of video is not named.
    package var name: String? {
        if let codePoints, codePoints.primaries == 2, codePoints.transfer == 2 { return nil }
        let range = isFullRange ? "" : ", limited range"
        if transfer == .sRGB, primaries.isBT709 { return "sRGB" + range }
        if transfer == .sRGB, primaries.isNear(.p3) { return "Display P3" + range }
        // BT.601, BT.709 and BT.2020 have the same transfer function.
        if transfer == .bt709 { return primaries.name + range }
        return (codePoints == nil && primaries.isBT709 ? "" : primaries.name + " ") + transfer.name + range
    }
}

extension ColorPrimaries {
    /// The names of the primaries by code point. Source: ITU-T H.273, table 2.
    private static let names: [(codePoint: UInt8, name: String)] = [
        (1, "BT.709"), (4, "BT.470 M"), (5, "BT.470 BG"), (6, "BT.601"), (8, "film"), (9, "BT.2020"), (11, "DCI-P3"),
        (12, "P3"), (22, "EBU 3213"),
    ]

    /// The name of the standard with these primaries.
    fileprivate var name: String {
        Self.names.first { ColorPrimaries(codePoint: $0.codePoint).map(isNear) ?? false }?.name ?? "custom primaries"
    }
}

extension TransferFunction {
    /// The name of the standard with this function, or the exponent of encoding.
    fileprivate var name: String {
        if self == .sRGB { return "sRGB" }
        if self == .smpte240 { return "SMPTE 240M" }
        switch self {
        case .pq: return "PQ"
        case .hlg: return "HLG"
        // The function of DCI, code point 17, is the only other one with a factor.
        case .parametric(_, let factor, _, _, _) where factor != 1: return "DCI"
        case .parametric(let gamma, _, _, _, _):
            return gamma == 1 ? "linear" : "gamma \((100_000 / gamma).rounded() / 100_000)"
        }
    }
}
