import AlcedoLibc

/// How the pixels of a new size are made of those of the old one.
public struct ResizeSampling: Sendable, Hashable {
    package var filter: ResizeFilter
    package var averagesFirst: Bool
    package var inLinearLight: Bool

    /// Creates a sampling; by default Lanczos with three lobes on stored samples, after an average where the image
    /// becomes much smaller.
    ///
    /// - Parameters:
    ///   - filter: How neighboring pixels are weighed.
    ///   - averagesFirst: Whether a reduction to a quarter or less begins with averages over whole numbers of pixels,
    ///     which is several times as fast and within two levels of the filter alone where the image is smooth.
    ///   - inLinearLight: Whether pixels are weighed by the light they stand for, not by their samples, so that fine
    ///     patterns keep their brightness. Samples are taken for those of sRGB. Costs about three times the time.
    public init(_ filter: ResizeFilter = .lanczos3, averagesFirst: Bool = true, inLinearLight: Bool = false) {
        self.filter = filter
        self.averagesFirst = averagesFirst
        self.inLinearLight = inLinearLight
    }

    /// Stable: part of cache keys.
    var identifier: String {
        filter.rawValue + (averagesFirst ? "" : ",whole") + (inLinearLight ? ",linear" : "")
    }
}

/// How neighbouring pixels are weighed when an image changes size; slower and sharper from first to last.
///
/// Reducing widens a filter by the factor of reduction, so that every source pixel counts.
public enum ResizeFilter: String, Sendable, Hashable, CaseIterable {
    /// Plain average; when enlarging, the nearest pixel. Radius 0.5.
    case box
    /// Linear interpolation, also called triangle. Radius 1.
    case bilinear
    /// Cubic convolution with a = -0.5. Radius 2.
    ///
    /// Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 29 (1981).
    case catmullRom
    /// sinc windowed by a sinc of three times the width. Radius 3.
    ///
    /// Source: Duchon, "Lanczos filtering in one and two dimensions", J. Appl. Meteorol. 18 (1979).
    case lanczos3

    /// Half the width of the interval outside which every weight is nought.
    var radius: Double {
        switch self {
        case .box: 0.5
        case .bilinear: 1
        case .catmullRom: 2
        case .lanczos3: 3
        }
    }

    /// The weight at distance `x` from the centre, before normalisation.
    func weight(at x: Double) -> Double {
        let distance = abs(x)
        switch self {
        case .box:
            // Half open, so that a pixel on the border of two intervals belongs to one.
            return x > -0.5 && x <= 0.5 ? 1 : 0
        case .bilinear:
            return max(0, 1 - distance)
        case .catmullRom:
            if distance < 1 { return (1.5 * distance - 2.5) * distance * distance + 1 }
            return distance < 2 ? ((-0.5 * distance + 2.5) * distance - 4) * distance + 2 : 0
        case .lanczos3:
            return distance < 3 ? Self.lanczos3(x) : 0
        }
    }

    /// sinc(x) sinc(x / 3), with one sine for both: sin 3a = 3 sin a - 4 sin³ a.
    private static func lanczos3(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        let angle = x * .pi / 3
        let sine = sin(angle)
        return (3 - 4 * sine * sine) * sine * sine / (3 * angle * angle)
    }
}
