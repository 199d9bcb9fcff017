import AlcedoCore
import FoundationEssentials

/// What makes two downloads the same: for a server the whole request, otherwise the source's identity.
enum TransferKey: Hashable, Sendable {
    case http(HTTPRequest)
    case other(ResourceKey)

    init(_ source: ImageSource) {
        switch source {
        case .http(let request): self = .http(request)
        case .file, .dataURL, .bytes, .provider: self = .other(source.resource)
        }
    }
}
