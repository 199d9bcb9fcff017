/// The size at which an image is displayed, and how the image fills it.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.decoding.target = TargetSize(width: 320, height: 320, mode: .fill)
/// ```
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
    /// Returns this size scaled to `target` with its aspect ratio preserved, each side at least one pixel.
    ///
    /// With `.fit`, the result lies inside `target`; with `.fill`, it covers `target`. Returns this size unchanged when
    /// either size is not positive, and when the result would be larger but `enlarging` is false.
    package func scaled(to target: PixelSize, mode: TargetSize.ContentMode, enlarging: Bool = false) -> PixelSize {
        guard isPositive, target.isPositive else { return self }
        let horizontal = Double(target.width) / Double(width)
        let vertical = Double(target.height) / Double(height)
        var factor = mode == .fit ? min(horizontal, vertical) : max(horizontal, vertical)
        if !enlarging { factor = min(factor, 1) }
        guard factor != 1 else { return self }
        let side = { (length: Int) in max(1, Int(min((Double(length) * factor).rounded(), 1e15))) }
        return PixelSize(width: side(width), height: side(height))
    }
}
