import AlcedoLibc

/// Why a ``LoopbackOrigin`` could not start.
public struct OriginError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system call that failed, and the system's words.
    public let message: String

    public var description: String { message }

    /// Takes the reason from `errno`.
    static func last(_ call: String) -> OriginError {
        OriginError(message: "\(call): \(String(cString: strerror(errno)))")
    }
}
