import AlcedoCore
import FoundationEssentials

/// The encoded bytes of a resource, and where they came from.
struct Original: Sendable {
    var data: Data
    var layer: ImageResponse.Layer
    /// Whether the server lets anything of it be kept on disk.
    var allowsStoring: Bool
    /// Entitles one of those who share the bytes to put a copy on disk; nil when none belongs there.
    var writeClaim: WriteClaim?
    /// Whether they are those of the version that the request is about.
    var isCurrent = true
    /// Counts the bytes as waiting; nil: nobody does.
    var hold: BacklogHold?
}
