/// The size at which an image is displayed, and how the image fills it.
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
