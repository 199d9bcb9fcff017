/// A request method. Case matters. Source: RFC 9110 section 9.
public struct HTTPMethod: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// Asks for the content.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Asks for the head alone.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Has the body processed.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Puts the body in the place of the content.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Has the content removed.
    public static let delete = HTTPMethod(rawValue: "DELETE")

    /// Those that ask for nothing to be done. Source: RFC 9110 section 9.2.1; of unknown methods nobody knows it.
    package static let safe: Set<HTTPMethod> = Set(
        ["GET", "HEAD", "OPTIONS", "TRACE"].map { HTTPMethod(rawValue: $0) })
    /// Those that do no more when they are sent twice. Source: RFC 9110 section 9.2.2.
    package static let idempotent: Set<HTTPMethod> = safe.union([.put, .delete])

    package var isSafe: Bool { Self.safe.contains(self) }
    package var isIdempotent: Bool { Self.idempotent.contains(self) }
}
