/// A color space that a file declares by numbers instead of an ICC profile: code points, or chromaticities and a gamma.
package struct ColorDescription: Sendable, Hashable {
    /// The chromaticities of the primary colors and the white point.
    package var primaries: ColorPrimaries
    /// The function from samples to light.
    package var transfer: TransferFunction
    /// Whether samples use the full range of their bits. If false, 8-bit black is 16 and white is 235.
    package var isFullRange: Bool
    /// The code points of ITU-T H.273 for primaries and transfer function, or nil when the file has none.
    package var codePoints: CodePoints?

    /// The code points of ITU-T H.273.
    package struct CodePoints: Sendable, Hashable {
        package var primaries: UInt8
        package var transfer: UInt8
    }

    /// Creates a description from chromaticities and a transfer function.
    package init(_ primaries: ColorPrimaries, _ transfer: TransferFunction) {
        self.primaries = primaries
        self.transfer = transfer
        isFullRange = true
    }

    /// Creates a description from code points. Unspecified values mean those of sRGB.
    ///
    /// Returns nil for code points that are reserved, and for logarithmic transfer functions. Source: ITU-T H.273
    /// (2024), tables 2 and 3.
    ///
    /// - Parameters:
    ///   - primaries: The code point of the primary colors.
    ///   - transfer: The code point of the transfer function.
    ///   - isFullRange: Whether RGB samples use the full range. Default: true.
    package init?(primaries: UInt8, transfer: UInt8, isFullRange: Bool = true) {
        guard let known = ColorPrimaries(codePoint: primaries), let function = TransferFunction(codePoint: transfer)
        else { return nil }
        self.primaries = known
        self.transfer = function
        self.isFullRange = isFullRange
        codePoints = CodePoints(primaries: primaries, transfer: transfer)
    }

    package static let sRGB = ColorDescription(.bt709, .sRGB)
    package static let displayP3 = ColorDescription(.p3, .sRGB)
}

/// The chromaticities (CIE 1931 x and y) of three primary colors and a white point.
package struct ColorPrimaries: Sendable, Hashable {
    package struct Chromaticity: Sendable, Hashable {
        package var x: Double
        package var y: Double

        package init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }

        static let d65 = Chromaticity(0.3127, 0.3290)
        static let illuminantC = Chromaticity(0.310, 0.316)
    }

    package var red: Chromaticity
    package var green: Chromaticity
    package var blue: Chromaticity
    package var white: Chromaticity

    package init(red: Chromaticity, green: Chromaticity, blue: Chromaticity, white: Chromaticity) {
        (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    }

    /// The primaries of sRGB and HDTV.
    package static let bt709 = ColorPrimaries((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
    /// The primaries of digital cinema with the white point of sRGB.
    package static let p3 = ColorPrimaries((0.68, 0.32), (0.265, 0.69), (0.15, 0.06))

    private init(
        _ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double), white: Chromaticity = .d65
    ) {
        self.init(
            red: Chromaticity(red.0, red.1), green: Chromaticity(green.0, green.1), blue: Chromaticity(blue.0, blue.1),
            white: white)
    }

    /// Creates the primaries of a code point. Source: ITU-T H.273, table 2.
    init?(codePoint: UInt8) {
        switch codePoint {
        case 1, 2: self = .bt709
        case 4: self.init((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), white: .illuminantC)
        case 5: self.init((0.64, 0.33), (0.29, 0.60), (0.15, 0.06))
        case 6, 7: self.init((0.630, 0.340), (0.310, 0.595), (0.155, 0.070))
        case 8: self.init((0.681, 0.319), (0.243, 0.692), (0.145, 0.049), white: .illuminantC)
        case 9: self.init((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
        case 11: self.init((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), white: Chromaticity(0.314, 0.351))
        case 12: self = .p3
        case 22: self.init((0.630, 0.340), (0.295, 0.605), (0.155, 0.077))
        default: return nil
        }
    }

    /// Whether all chromaticities equal those of sRGB when rounded to three decimals.
    package var isBT709: Bool { isNear(.bt709) }

    /// Whether all chromaticities equal those of other primaries when rounded to three decimals.
    func isNear(_ other: ColorPrimaries) -> Bool {
        let pairs = [(red, other.red), (green, other.green), (blue, other.blue), (white, other.white)]
        return pairs.allSatisfy { abs($0.x - $1.x) < 0.001 && abs($0.y - $1.y) < 0.001 }
    }
}
