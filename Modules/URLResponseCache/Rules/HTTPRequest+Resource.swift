import AlcedoCore
import FoundationEssentials

extension HTTPRequest {
    /// What answers to the request are stored under.
    var resourceKey: ResourceKey { ResourceKey(normal: url) }

    /// Whether the request says who asks, in a field or in the URL.
    var hasCredentials: Bool { fields.contains("Authorization") || url.user != nil }
}
