import AlcedoCore

/// How round the corners of a picture are.
///
/// Radii that together are longer than a side are all made smaller by the same factor until they fit.
///
/// Source: W3C, CSS Backgrounds and Borders Level 3, §5.5.
public struct CornerRadii: Sendable, Hashable {
    /// What 1 means.
    public enum Unit: String, Sendable, Hashable {
        /// Pixels of the picture that is rounded.
        case pixels
        /// The picture's shorter side: 0.5 makes half circles.
        case shorterSide
    }

    private let topLeft: Double
    private let topRight: Double
    private let bottomRight: Double
    private let bottomLeft: Double
    private let unit: Unit

    /// Creates radii from 0, counted in `unit`. Processors throw `invalidParameter` for radii that are negative or not
    /// finite.
    public init(
        topLeft: Double = 0, topRight: Double = 0, bottomRight: Double = 0, bottomLeft: Double = 0,
        unit: Unit = .pixels
    ) {
        self.topLeft = topLeft
        self.topRight = topRight
        self.bottomRight = bottomRight
        self.bottomLeft = bottomLeft
        self.unit = unit
    }

    /// Creates the same radius at every corner.
    package init(_ radius: Double, unit: Unit = .pixels) {
        self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius, unit: unit)
    }

    /// Stable: part of cache keys.
    var identifier: String {
        "\(topLeft);\(topRight);\(bottomRight);\(bottomLeft),\(unit.rawValue)"
    }

    private var all: [Double] { [topLeft, topRight, bottomRight, bottomLeft] }

    /// Whether no corner is round.
    var areZero: Bool { all.allSatisfy { $0 == 0 } }

    /// The radii in pixels that a picture of `size` gets, from the top left corner clockwise.
    func pixels(in size: PixelSize) throws(ImageProcessingError) -> SIMD4<Double> {
        let (width, height) = (Double(size.width), Double(size.height))
        let scale = unit == .pixels ? 1 : min(width, height)
        var radii = SIMD4<Double>(repeating: 0)
        for (corner, radius) in all.enumerated() {
            guard radius.isFinite, radius >= 0 else {
                throw ImageProcessingError(.invalidParameter, "a corner radius of \(radius) makes no sense")
            }
            // A sum of two stays finite.
            radii[corner] = min(radius * scale, 1e9)
        }
        let sides = [
            (width, radii[0] + radii[1]), (height, radii[1] + radii[2]), (width, radii[2] + radii[3]),
            (height, radii[3] + radii[0]),
        ]
        let factor = sides.reduce(1.0) { $1.1 > $1.0 ? min($0, $1.0 / $1.1) : $0 }
        return radii * factor
    }
}
