package import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// Names a resource: usually its URL. All variants of an image (sizes, processors) share it.
///
/// Equal means the same bytes: two spellings of one character make two resources, as on a server or a Linux disk.
public struct ResourceKey: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A key of the caller's own making.
    public init(_ description: String) { self.description = description }

    public static func == (a: Self, b: Self) -> Bool { a.description.hasSameBytes(as: b.description) }

    /// What `request` asks for: the URL, for a plain GET. Another method, a body, and fields that speak for somebody or
    /// choose a representation make it another resource, so that nobody is shown what was meant for somebody else; they
    /// enter as a digest, because they may be secret.
    package init(_ request: HTTPRequest) {
        let url = ResourceKey(request.url)
        let personal = ["Authorization", "Cookie", "Accept", "Accept-Language"].compactMap { name in
            request.fields[name].map { "\(name.utf8.count + $0.utf8.count):\(name): \($0)" }
        }
        guard request.method != .get || request.body != nil || !personal.isEmpty else {
            self = url
            return
        }
        var digest = SHA256()
        digest.update(Array("\(request.method)\n\(personal.joined(separator: "\n"))\n".utf8))
        if let body = request.body { digest.update(Array(body)) }
        self.init("\(url) \(digest.finalizedHexadecimal())")
    }

    /// The absolute URL without its fragment, which never reaches the server.
    ///
    /// - Parameters:
    ///   - url: The URL to be named by.
    ///   - ignoredQueryItems: Names of query items that do not change the picture, such as the signature and expiry of
    ///     a signed URL. Other items keep their order and spelling.
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
