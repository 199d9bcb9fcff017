package import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// A key for a resource, usually its URL. All variants of an image (sizes, processors) share it.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.resource = ResourceKey(url, ignoringQueryItems: ["token", "expires"])
/// ```
///
/// Keys compare by their bytes. Strings that are canonically equivalent in Unicode but differ in bytes are different
/// resources, as on servers and Linux file systems.
public struct ResourceKey: Sendable, Hashable, CustomStringConvertible {
    /// The text of the key, usually a URL.
    public let description: String

    /// Creates a key from a string that the caller chooses.
    public init(_ description: String) { self.description = description }

    /// Whether two keys have the same bytes in UTF-8.
    public static func == (a: Self, b: Self) -> Bool { a.description.hasSameBytes(as: b.description) }

    /// Creates the key for the resource of a request. A plain GET request uses its URL.
    ///
    /// Another method, a body, and fields that identify a user or select a representation make a different resource, so
    /// that one user never sees a response intended for another. They are included as a digest, because they may be
    /// secret.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - resource: The resource that replaces the URL, except for its user name and password. Default: nil, the URL.
    package init(_ request: HTTPRequest, insteadOfURL resource: ResourceKey? = nil) {
        let url = resource.map { $0.distinguished(byCredentialsOf: request.url) } ?? ResourceKey(request.url)
        let distinguishingFields = HTTPRequest.distinguishingFields.compactMap { name in
            request.fields[name].map { "\(name.utf8.count + $0.utf8.count):\(name): \($0)" }
        }
        guard request.method != .get || request.body != nil || !distinguishingFields.isEmpty else {
            self = url
            return
        }
        var digest = SHA256()
        digest.update(Array("\(request.method)\n\(distinguishingFields.joined(separator: "\n"))\n".utf8))
        if let body = request.body { digest.update(Array(body)) }
        self.init("\(url) \(digest.finalizedHexadecimal())")
    }

    /// Creates the key for a request with all its fields, for work that no response has described yet.
    package init(allFieldsOf request: HTTPRequest) {
        let resource = ResourceKey(request)
        guard !request.fields.fields.isEmpty else {
            self = resource
            return
        }
        var digest = SHA256()
        for field in request.fields {
            let name = field.name.lowercased()
            digest.update(Array("\(name.utf8.count):\(field.value.utf8.count):\(name)\(field.value)".utf8))
        }
        self.init("\(resource) \(digest.finalizedHexadecimal())")
    }

    /// Creates a key from the absolute URL without its fragment, which is never sent to the server. A user name and a
    /// password are replaced by a digest, because caches store keys as text.
    ///
    /// - Parameters:
    ///   - url: The URL of the resource.
    ///   - ignoredQueryItems: The names, as spelled in the URL, of query items that do not affect the image, such as
    ///     the signature and expiry of a signed URL. Other items keep their order and spelling. Default: none.
    public init(_ url: URL, ignoringQueryItems ignoredQueryItems: Set<String> = []) {
        var text = Substring(url.absoluteString)
        if let hash = text.firstIndex(of: "#") { text = text[..<hash] }
        if !ignoredQueryItems.isEmpty, let mark = text.firstIndex(of: "?") {
            let kept = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
                .filter {
                    let name = $0.prefix { $0 != "=" }
                    return !ignoredQueryItems.contains(String(name))
                }
            text = text[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
        }
        let key = ResourceKey(String(text).withoutCredentials)
        self = key.distinguished(byCredentialsOf: url)
    }

    /// Returns the key for the resource as a user sees it who has the user name and password of a URL. Returns the key
    /// unchanged if the URL has none.
    func distinguished(byCredentialsOf url: URL) -> ResourceKey {
        let text = url.absoluteString
        guard let range = text.rangeOfCredentials else { return self }
        return ResourceKey("\(description) \(SHA256.hexDigest(of: String(text[..<range.upperBound])))")
    }
}
