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
    /// Permits one of the loads that share the bytes to write them to disk; nil when they do not belong there.
    var writeToken: WriteToken?
    /// Whether they are those of the version that the request is about.
    var isCurrent = true
    /// The reservation that counts the bytes as waiting for a decoder; nil when they are not counted.
    var reservation: EncodedByteReservation?
    /// The head of the response that brought the bytes; nil from disk, and where the source is not HTTP.
    var httpResponse: HTTPResponseHead?
    /// The transfer that brought the bytes, where it was measured.
    var metrics: HTTPTransferMetrics?
}

/// Permits one write, however many loads share the bytes.
final class WriteToken: Sendable {
    private let wasUsed = Atomic<Bool>(false)

    /// Whether a load has used the token.
    var isUsed: Bool { wasUsed.load(ordering: .relaxed) }

    /// Uses the token. Returns true for the first caller only.
    func use() -> Bool { !wasUsed.exchange(true, ordering: .relaxed) }
}

extension Data {
    /// XXH64, to tell whether a source still has what an image was made of: whoever could make two contents alike is the
    /// source itself.
    var digest: UInt64 { XXH64.hash(bytes) }
}
