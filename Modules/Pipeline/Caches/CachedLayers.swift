/// The cache layers that contain data of a request.
///
/// ```swift
/// let layers = await pipeline.cache.contains(request)
/// if layers.contains(.memory) { await pipeline.cache.remove(request, from: .memory) }
/// ```
///
/// A layer is one place in which the pipeline finds data of a request. ``memory`` is the memory cache. ``processed``
/// and ``original`` are the two kinds of entries in the disk cache. ``response`` is the layer of the response cache:
/// the server's response to an HTTP request, stored by the rules of HTTP.
public struct CachedLayers: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// The bits of the layers.
    public let rawValue: UInt8

    /// Creates a set from the bits of its layers.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The finished image in memory.
    public static let memory = CachedLayers(rawValue: 1)
    /// The processed image on disk.
    public static let processed = CachedLayers(rawValue: 2)
    /// The original bytes on disk.
    public static let original = CachedLayers(rawValue: 4)
    /// The server's response in the response cache.
    public static let response = CachedLayers(rawValue: 8)

    /// Both layers on disk: the processed image and the original bytes.
    public static let disk: CachedLayers = [.processed, .original]
    /// Every layer.
    public static let all: CachedLayers = [.memory, .disk, .response]

    /// The names of the layers, such as `[memory, original]`.
    public var description: String {
        let names: [(CachedLayers, String)] = [
            (.memory, "memory"), (.processed, "processed"), (.original, "original"), (.response, "response"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
