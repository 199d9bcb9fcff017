/// The size a picture will be shown at, and how it meets that size.
public struct TargetSize: Sendable, Hashable, CustomStringConvertible {
    /// In device pixels.
    public var size: PixelSize
    /// How the picture meets the size.
    public var mode: ContentMode

    /// A size in device pixels; by default the whole picture fits into it.
    public init(_ size: PixelSize, mode: ContentMode = .fit) {
        self.size = size
        self.mode = mode
    }

    /// Stable: part of cache keys.
    public var description: String { "\(size.width)x\(size.height),\(mode.rawValue)" }
}
