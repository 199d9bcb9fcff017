/// The layers in which something of a request is cached.
public struct CachedLayers: OptionSet, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The finished image, in memory.
    public static let memory = CachedLayers(rawValue: 1)
    /// The image as it was asked for, on disk.
    public static let processed = CachedLayers(rawValue: 2)
    /// The bytes as they came, on disk.
    public static let original = CachedLayers(rawValue: 4)
    /// The response of the server, in the response cache.
    public static let response = CachedLayers(rawValue: 8)

    /// On disk, as it was asked for or as it came.
    public static let disk: CachedLayers = [.processed, .original]
    /// Every layer.
    public static let all: CachedLayers = [.memory, .disk, .response]

    /// The layers by their names, such as `[memory, original]`.
    public var description: String {
        let names: [(CachedLayers, String)] = [
            (.memory, "memory"), (.processed, "processed"), (.original, "original"), (.response, "response"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
