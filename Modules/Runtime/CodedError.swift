/// The common form of the public errors of all modules: a code to switch on and a sentence for logs.
///
/// The error type declares `code`, `message` and its initializer. This protocol adds the conformance to `Error`,
/// `Equatable` and `CustomStringConvertible`. The protocol itself is not visible to other packages.
package protocol CodedError: Error, Equatable, CustomStringConvertible {
    associatedtype Code: Equatable & Sendable

    /// The code that callers switch on.
    var code: Code { get }
    /// One sentence for logs.
    var message: String { get }
    /// The underlying error; nil if there is none, which is the default.
    var cause: (any Error)? { get }
}

extension CodedError {
    package var cause: (any Error)? { nil }

    /// The message.
    public var description: String { message }

    /// Returns whether code and message are equal. Causes and measurements are not compared.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.message == b.message }
}

/// A name from an open set, such as an HTTP method or an image format. Its description is the name itself.
package protocol OpenName: RawRepresentable, CustomStringConvertible where RawValue == String {}

extension OpenName {
    /// The name.
    public var description: String { rawValue }
}
