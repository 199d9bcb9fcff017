import AlcedoCore
import FoundationEssentials

extension HTTPRequest {
    /// What answers to the request are stored under.
    var resourceKey: ResourceKey { ResourceKey(normal: url) }

    /// Whether the request says who asks, in a field or in the URL.
    var hasCredentials: Bool { fields.contains("Authorization") || url.hasCredentials }

    /// The credentials as the server gets them: those of the field, or those of the URL in the same form (RFC 7617
    /// section 2).
    var credentials: String? {
        if let field = fields["Authorization"] { return field }
        guard url.hasCredentials else { return nil }
        let pair = "\(url.user(percentEncoded: false) ?? ""):\(url.password(percentEncoded: false) ?? "")"
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}

extension URL {
    fileprivate var hasCredentials: Bool { user != nil || password != nil }

    /// The URL without the credentials in it, which are nobody else's.
    var withoutCredentials: URL {
        guard hasCredentials, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}
