import AlcedoLibc

/// The method that computes the pixels of a resized image.
///
/// ```swift
/// let sampling = ResizeSampling(.catmullRom, inLinearLight: true)
/// let request = ImageRequest(url: url, processors: [.resize(width: 320, sampling: sampling)])
/// ```
public struct ResizeSampling: Sendable, Hashable {
    /// The filter that weights adjacent pixels. Default: `.lanczos3`.
    public var filter: ResizeFilter
    /// Whether pixels are weighted in linear light instead of by their stored samples. Default: `false`.
    public var inLinearLight: Bool

    /// Creates a sampling method. By default, it uses Lanczos with three lobes on stored samples.
    ///
    /// - Parameters:
    ///   - filter: The filter that weights adjacent pixels. Default: `.lanczos3`.
    ///   - inLinearLight: Whether pixels are weighted in linear light instead of by their stored samples, so that fine
    ///     patterns keep their brightness. Samples are interpreted as sRGB. Takes about three times as long. Default:
    ///     `false`.
    public init(_ filter: ResizeFilter = .lanczos3, inLinearLight: Bool = false) {
        self.filter = filter
        self.inLinearLight = inLinearLight
    }

    /// The name of the sampling in cache keys. It must not change between releases unless the result changes.
    var identifier: String { filter.rawValue + (inLinearLight ? ",linear" : "") }
}

/// The filter that weights adjacent pixels when an image is resized. The cases are ordered from fast and soft to slow
/// and sharp.
///
/// For reductions, the filter is widened by the factor of the reduction, so that every source pixel contributes.
public enum ResizeFilter: String, Sendable, Hashable, CaseIterable {
    /// A plain average, or the nearest pixel when enlarging. Radius 0.5.
    case box
    /// Linear interpolation, also called triangle. Radius 1.
    case bilinear
    /// Cubic convolution with a = -0.5. Radius 2.
    ///
    /// Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 29 (1981).
    case catmullRom
    /// A sinc windowed by a sinc of three times the width. Radius 3.
    ///
    /// Source: Duchon, "Lanczos filtering in one and two dimensions", J. Appl. Meteorol. 18 (1979).
    case lanczos3

    /// Half the width of the interval outside which every weight is zero.
    var radius: Double {
        switch self {
        case .box: 0.5
        case .bilinear: 1
        case .catmullRom: 2
        case .lanczos3: 3
        }
    }

    /// Returns the weight at distance `x` from the center, before normalization.
    func weight(at x: Double) -> Double {
        let distance = abs(x)
        switch self {
        case .box:
            // The interval is half-open, so that a pixel on the border of two intervals belongs to one of them.
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

    /// Returns sinc(x) sinc(x / 3) with one sine for both factors: sin 3a = 3 sin a - 4 sin³ a.
    private static func lanczos3(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        let angle = x * .pi / 3
        let sine = sin(angle)
        return (3 - 4 * sine * sine) * sine * sine / (3 * angle * angle)
    }
}
