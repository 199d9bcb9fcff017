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
    package init(_ request: HTTPRequest) {
        let url = ResourceKey(request.url)
        let distinguishingFields = ["Authorization", "Cookie", "Accept", "Accept-Language"].compactMap { name in
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

    /// Creates a key from the absolute URL without its fragment, which is never sent to the server.
    ///
    /// - Parameters:
    ///   - url: The URL of the resource.
    ///   - ignoredQueryItems: The names, as spelled in the URL, of query items that do not affect the image, such as
    ///     the signature and expiry of a signed URL. Other items keep their order and spelling. Default: none.
    public init(_ url: URL, ignoringQueryItems ignoredQueryItems: Set<String> = []) {
        var text = Substring(url.absoluteString)
        if let hash = text.firstIndex(of: "#") { text = text[..<hash] }
        guard !ignoredQueryItems.isEmpty, let mark = text.firstIndex(of: "?") else {
            description = String(text)
            return
        }
        let kept = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false).filter {
            let name = $0.prefix { $0 != "=" }
            return !ignoredQueryItems.contains(String(name))
        }
        description = String(text[..<mark]) + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }
}
