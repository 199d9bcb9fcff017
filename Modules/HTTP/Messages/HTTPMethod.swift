public import AlcedoRuntime

/// A request method. Methods are case-sensitive. Source: RFC 9110 section 9.
public struct HTTPMethod: OpenName, Sendable, Hashable {
    /// The name of the method, such as `GET`.
    public var rawValue: String

    /// Creates a method with a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The method that requests the content of a resource.
    public static let get = HTTPMethod(rawValue: "GET")
    /// The method that requests only the head.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// The method that lets the resource process the body.
    public static let post = HTTPMethod(rawValue: "POST")
    /// The method that replaces the content of the resource with the body.
    package static let put = HTTPMethod(rawValue: "PUT")
    /// The method that removes the resource.
    package static let delete = HTTPMethod(rawValue: "DELETE")

    /// The safe methods, which do not change a resource (RFC 9110 section 9.2.1). Unknown methods count as unsafe.
    package static let safe: Set<HTTPMethod> = Set(
        ["GET", "HEAD", "OPTIONS", "TRACE"].map { HTTPMethod(rawValue: $0) })
    /// The idempotent methods (RFC 9110 section 9.2.2).
    package static let idempotent: Set<HTTPMethod> = safe.union([.put, .delete])

    /// Whether the method is safe: a request with it does not change a resource (RFC 9110 section 9.2.1). Unknown
    /// methods count as unsafe.
    public var isSafe: Bool { Self.safe.contains(self) }
    /// Whether a request with the method may be repeated with the effect of one (RFC 9110 section 9.2.2). Unknown
    /// methods count as not idempotent.
    public var isIdempotent: Bool { Self.idempotent.contains(self) }
}
