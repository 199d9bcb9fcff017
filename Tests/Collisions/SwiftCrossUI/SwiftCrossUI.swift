/// A substitute for a UI toolkit.
public protocol View {}

public struct Text: View {
    public let content: String

    public init(_ content: String) { self.content = content }
}

public struct Image: View {
    public let name: String

    public init(_ name: String) { self.name = name }
}

public struct Color: View, Sendable {
    public static let red = Color()
}

public struct Circle: View {
    public let radius: Double

    public init(radius: Double) { self.radius = radius }
}

public struct Overlay: View {
    public init() {}
}

public struct Blur: View {
    public init() {}
}

public struct Border: View {
    public init() {}
}

public struct Anchor {
    public init() {}
}

public enum ContentMode {
    case stretch
}

public enum Orientation {
    case vertical
}

public struct Rotate: View {
    public init() {}
}
