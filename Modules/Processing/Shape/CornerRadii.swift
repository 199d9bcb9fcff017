import AlcedoCore

/// The radii of an image's corners.
///
/// ```swift
/// let radii = CornerRadii(topLeft: 16, topRight: 16)
/// let request = ImageRequest(url: url, processors: [.roundedCorners(radii)])
/// ```
///
/// When the radii of two adjacent corners together exceed the length of the side between them, all radii are reduced by
/// the same factor until they fit.
///
/// Source: W3C, CSS Backgrounds and Borders Level 3, §5.5.
public struct CornerRadii: Sendable, Hashable {
    /// The unit of the radii.
    public enum Unit: String, Sendable, Hashable {
        /// Pixels of the image whose corners are rounded.
        case pixels
        /// Multiples of the image's shorter side. A radius of 0.5 makes semicircles.
        case shorterSide
    }

    private let topLeft: Double
    private let topRight: Double
    private let bottomRight: Double
    private let bottomLeft: Double
    private let unit: Unit

    /// Creates radii in the given unit. By default, each radius is 0 and the unit is `.pixels`. Processors throw
    /// `invalidParameter` for radii that are negative or not finite.
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

    /// Creates radii with the same value at every corner.
    package init(_ radius: Double, unit: Unit = .pixels) {
        self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius, unit: unit)
    }

    /// The name of the radii in cache keys. It must not change between releases.
    var identifier: String {
        "\(topLeft);\(topRight);\(bottomRight);\(bottomLeft),\(unit.rawValue)"
    }

    private var all: [Double] { [topLeft, topRight, bottomRight, bottomLeft] }

    /// Whether all radii are 0.
    var areZero: Bool { all.allSatisfy { $0 == 0 } }

    /// Returns the radii in pixels for an image of `size`, clockwise from the top left corner. Throws
    /// `invalidParameter` for radii that are negative or not finite.
    func pixels(in size: PixelSize) throws(ImageProcessingError) -> SIMD4<Double> {
        let (width, height) = (Double(size.width), Double(size.height))
        let scale = unit == .pixels ? 1 : min(width, height)
        var radii = SIMD4<Double>(repeating: 0)
        for (corner, radius) in all.enumerated() {
            guard radius.isFinite, radius >= 0 else {
                throw ImageProcessingError(.invalidParameter, "invalid corner radius: \(radius)")
            }
            // The limit keeps the sum of two radii finite.
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
