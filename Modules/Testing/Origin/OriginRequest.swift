public import AlcedoCore
public import FoundationEssentials

/// A request as a ``LoopbackOrigin`` received it.
public struct OriginRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod
    /// The path with its query, as it was sent: not decoded.
    public let target: String
    /// The header fields.
    public let fields: HTTPFields
    /// The whole body; empty when there is none.
    public let body: Data
    /// Which connection carried it; the first is 1.
    public let connection: Int
    /// Its place among all requests of the origin; the first is 1.
    public let number: Int
    /// How often this target has been asked for, this time included.
    public let attempt: Int

    /// The target up to its query, not decoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The target after its question mark, not decoded; nil when there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }
}
