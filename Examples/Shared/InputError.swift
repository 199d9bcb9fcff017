import AlcedoLibc

/// Something that images are named in, or that is one, and that cannot be read.
public struct InputError: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }

    /// - Parameter number: That of the system.
    public init(_ name: String, _ number: Int32) {
        self.init(description: "cannot read \(name): \(String(cString: strerror(number)))")
    }
}
