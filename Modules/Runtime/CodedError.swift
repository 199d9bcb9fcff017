/// The shape of the public errors of all modules: a code to branch on, and a sentence for logs.
///
/// The type declares `code`, `message` and its initializer. It conforms to `Error`, `Equatable` and
/// `CustomStringConvertible` by this protocol, which other packages do not see.
package protocol CodedError: Error, Equatable, CustomStringConvertible {
    associatedtype Code: Equatable & Sendable

    /// What callers branch on.
    var code: Code { get }
    /// One sentence, for logs.
    var message: String { get }
}

extension CodedError {
    public var description: String { message }

    /// Whether code and message are equal. Causes and measurements do not count.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.message == b.message }
}

/// A name of an open set, such as a method of HTTP or an image format, which describes itself by the name.
package protocol OpenName: RawRepresentable, CustomStringConvertible where RawValue == String {}

extension OpenName {
    public var description: String { rawValue }
}
