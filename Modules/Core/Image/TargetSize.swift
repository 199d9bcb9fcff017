/// The size of the area that an image is for, in device pixels, and the way the image fills it.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.decoding.target = TargetSize(width: 320, height: 320, mode: .fill)
/// ```
///
/// As ``DecodingOptions/target``, the size is a lower bound for the decoder, not the size of the result: a JPEG of 4000
/// x 3000 pixels is decoded at 500 x 375, and a format whose decoder cannot scale at its full size. For an image of at
/// most 320 x 320 pixels, use the processor `.resize(fitting:)`, or `image(for:fitting:)` of the module `Alcedo`.
public struct TargetSize: Sendable, Hashable, CustomStringConvertible {
    /// The size in device pixels.
    public var size: PixelSize
    /// The way the image fills the size.
    public var mode: ContentMode

    /// Creates a target from a size in device pixels. By default the whole image fits inside.
    public init(_ size: PixelSize, mode: ContentMode = .fit) {
        self.size = size
        self.mode = mode
    }

    /// Creates a target from a width and a height in device pixels. By default the whole image fits inside.
    public init(width: Int, height: Int, mode: ContentMode = .fit) {
        self.init(PixelSize(width: width, height: height), mode: mode)
    }

    /// The size and the mode. Stable between releases, because cache keys contain it.
    public var description: String { "\(size.width)x\(size.height),\(mode.rawValue)" }
}

extension TargetSize {
    /// The way an image fills a target with another aspect ratio.
    public enum ContentMode: String, Sendable, Hashable {
        /// The whole image lies inside the target.
        case fit
        /// The image covers the whole target.
        case fill
    }
}

extension PixelSize {
    /// Returns this size scaled to `target` with its aspect ratio preserved: each side times the factor, rounded to the
    /// nearest whole number, and at least one pixel.
    ///
    /// With `.fit`, the result lies inside `target`; with `.fill`, it covers `target`. Returns this size unchanged when
    /// either size is not positive, and when the result would be larger but `enlarging` is false.
    package func scaled(to target: PixelSize, mode: TargetSize.ContentMode, enlarging: Bool = false) -> PixelSize {
        guard isPositive, target.isPositive else { return self }
        // The factor is a fraction, because a quotient of two doubles can lie on the wrong side of a half.
        let isFlatter = target.width.multipliedFullWidth(by: height) < target.height.multipliedFullWidth(by: width)
        let isHorizontal = isFlatter == (mode == .fit)
        let (over, under) = isHorizontal ? (target.width, width) : (target.height, height)
        if over == under || over > under && !enlarging { return self }
        return PixelSize(
            width: isHorizontal ? min(over, Self.maximumSide) : Self.scaled(width, over, under),
            height: isHorizontal ? Self.scaled(height, over, under) : min(over, Self.maximumSide))
    }

    /// Returns `length * over / under`, rounded to the nearest whole number, from 1 to 10¹⁵. All values are positive.
    private static func scaled(_ length: Int, _ over: Int, _ under: Int) -> Int {
        guard Double(length) * Double(over) / Double(under) < Double(maximumSide) else { return maximumSide }
        let (quotient, remainder) = under.dividingFullWidth(length.multipliedFullWidth(by: over))
        return max(1, quotient + (remainder >= under - remainder ? 1 : 0))
    }

    private static let maximumSide = 1_000_000_000_000_000
}
