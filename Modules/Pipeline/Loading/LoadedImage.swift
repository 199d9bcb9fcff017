import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// An image on its way, with what is known of the bytes that it was made of.
struct LoadedImage: Sendable {
    /// What stays known of the bytes when they are gone.
    struct Origin: Sendable {
        /// XXH64 of the bytes as they came; nil where they were not there.
        var digest: UInt64?
        /// Whether the server lets anything of them be kept on disk.
        var allowsStoring: Bool
    }

    var image: DecodedImage
    var layer: ImageResponse.Layer
    /// nil for one that was in memory, unless its bytes still belong on disk.
    var original: Original?
    /// nil when nobody knows.
    var origin: Origin?

    /// Whether it may be kept under the key of its request: false when the file has changed while it was read.
    var isCurrent: Bool { original?.isCurrent != false }
}

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
    var hold: EncodedByteReservation?
    /// The head of the response that brought the bytes; nil from disk, and where the source is not HTTP.
    var httpResponse: HTTPResponseHead?
    /// The transfer that brought the bytes, where it was measured.
    var metrics: HTTPTransferMetrics?
}

/// Grants one write, however many ask.
final class WriteClaim: Sendable {
    private let claim = Atomic<Bool>(false)

    /// Whether somebody has it.
    var isTaken: Bool { claim.load(ordering: .relaxed) }

    /// True for the first caller only.
    func take() -> Bool { !claim.exchange(true, ordering: .relaxed) }
}

extension Data {
    /// XXH64, to tell whether a source still has what an image was made of: whoever could make two contents alike is the
    /// source itself.
    var digest: UInt64 { XXH64.hash(bytes) }
}
