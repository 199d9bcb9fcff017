import AlcedoCore
import FoundationEssentials

extension ImageSource {
    /// What slots are counted by; nil for a source that is not a server.
    var host: String? {
        guard case .http(let request) = self else { return nil }
        return request.url.origin
    }
}
