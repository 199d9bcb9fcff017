import AlcedoCore

/// Where a transfer waits for its slot.
enum TransferLine: Sendable {
    /// With those for the same server.
    case server(String)
    /// With the other files: a few are read at once.
    case files
    /// Nowhere.
    case nowhere

    init(_ source: ImageSource) {
        switch source {
        case .http(let request): self = .server(request.url.origin)
        case .file: self = .files
        case .dataURL, .bytes, .provider: self = .nowhere
        }
    }
}
