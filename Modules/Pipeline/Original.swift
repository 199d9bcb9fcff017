import AlcedoCore
import FoundationEssentials

/// The encoded bytes of a resource, and where they came from.
struct Original: Sendable {
    var data: Data
    var layer: ImageResponse.Layer
    /// Entitles one of those who share the bytes to put a copy on disk; nil when none belongs there.
    var writeClaim: WriteClaim?
}
