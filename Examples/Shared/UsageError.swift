/// A command line that makes no sense. The process ends with status 2.
public struct UsageError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
