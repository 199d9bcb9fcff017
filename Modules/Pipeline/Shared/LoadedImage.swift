import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// The outcome of shared work, which may be only for requests with the modifier of the request that caused it: a
/// further attempt of the download then sent another request than the first one, or the modifier asked for a part.
protocol ModifierOutcome {
    var isOfModifier: Bool { get }
}

extension ImageResponse: ModifierOutcome {}
extension LoadedImage: ModifierOutcome {}
extension Original: ModifierOutcome {}
extension PipelineError: ModifierOutcome {}

extension Coalescer where Value: ModifierOutcome {
    convenience init(taskExecutor: (any TaskExecutor)?) {
        self.init(taskExecutor: taskExecutor, isOfSource: PipelineError.isOfSource) { outcome in
            switch outcome {
            case .success(let value): value.isOfModifier
            // Work also throws CancellationError and VaryMarker, which are for everyone.
            case .failure(let error): (error as? PipelineError)?.isOfModifier == true
            }
        }
    }
}

/// An image between the stages of a load, with the origin of its bytes.
struct LoadedImage: Sendable {
    /// The properties of the original bytes that are kept after the bytes are released.
    struct Origin: Sendable {
        /// The XXH64 digest of the original bytes, or nil when they were not available.
        var digest: UInt64?
        /// Whether the server permits storing the image on disk.
        var allowsStoring: Bool
        /// The request fields by which the bytes vary. Default: none.
        var varyingFields = VaryingFields.none
        /// The uptime at which the download began. Default: zero, for an image that was not downloaded.
        var requestedAt = Duration.zero
        /// Whether the bytes were decoded to an image without damage to its pixels. Default: false.
        var isIntact = false
    }

    var image: DecodedImage
    var layer: ImageResponse.Layer
    /// The original bytes; nil for the image of an `.image` source, and for an image from memory unless its bytes may
    /// still be written to disk.
    var original: Original?
    /// The origin of the bytes, or nil when it is not known.
    var origin: Origin?

    /// Whether the image may be stored under the key of its request: see ``Original/isKeepable``.
    var isKeepable: Bool { original?.isKeepable != false }

    var isOfModifier: Bool { original?.isOfModifier == true }
}

/// The encoded bytes of a resource, with their layer.
struct Original: Sendable {
    var data: Data
    var layer: ImageResponse.Layer
    /// Whether the server permits storing the bytes, and images made from them, on disk.
    var allowsStoring: Bool
    /// The token that lets one of the sharing loads write the bytes to disk, or nil when they must not be written.
    var writeToken: WriteToken?
    /// Whether the bytes may be stored under the key of the request. False when a local file changed during the read,
    /// and for the response to a request for a range, which never stands for the whole.
    var isKeepable = true
    /// Whether the bytes are those of a processed image from disk, in place of those of the source. Default: false.
    var isProcessed = false
    var isOfModifier = false
    /// The request fields by which the bytes vary. Default: none.
    var varyingFields = VaryingFields.none
    /// The origin of the HTTP response, the network or a response cache; nil when it is not known.
    var responseSource: ResponseSource?
    /// The uptime at which the download began.
    var requestedAt = Duration.zero
    /// The generation of the resource when the shared read or download began; nil for bytes that were not shared.
    var generation: Generation?
    /// The reservation that counts the bytes as waiting for a decoder; nil when they are not counted.
    var reservation: EncodedByteReservation?
    /// The head of the HTTP response; nil for bytes from disk, and for a source other than HTTP.
    var httpResponse: HTTPResponseHead?
    /// The metrics of the transfer, or nil when it was not measured.
    var metrics: HTTPTransferMetrics?
}

extension Original {
    /// Returns the bytes for the response to a request; nil if it has not asked for them.
    func data(for request: ImageRequest) -> Data? {
        isProcessed || data.count > request.maximumDataByteCount ? nil : data
    }
}

/// A token that permits one write, however many loads share the bytes.
final class WriteToken: Sendable {
    private let wasUsed = Atomic<Bool>(false)

    var isUsed: Bool { wasUsed.load(ordering: .relaxed) }

    /// Uses the token. Returns true for the first call only.
    func use() -> Bool { !wasUsed.exchange(true, ordering: .relaxed) }
}

extension DecodedImage {
    /// Whether the decoder found no missing and no wrong pixels. Other images are not stored on disk, because the
    /// source may be mended.
    var isIntact: Bool { (damage?.kind ?? .harmless) == .harmless }
}

extension Data {
    /// The XXH64 digest, used to detect whether a source has changed. A collision-resistant hash is not needed, because
    /// only the source itself could make two contents collide.
    var digest: UInt64 { XXH64.hash(bytes) }
}
