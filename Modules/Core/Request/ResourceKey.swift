public import FoundationEssentials

/// Names a resource: usually its URL. All variants of an image (sizes, processors) share it.
///
/// Equal means the same bytes: two spellings of one character make two resources, as on a server or a Linux disk.
public struct ResourceKey: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// A key of the caller's own making.
    public init(_ description: String) { self.description = description }

    public static func == (a: Self, b: Self) -> Bool { a.description.hasSameBytes(as: b.description) }

    /// The absolute URL without its fragment, which never reaches the server.
    ///
    /// - Parameter ignoredQueryItems: Names of query items that do not change the picture, such as the signature and
    ///   expiry of a signed URL. Other items keep their order and spelling.
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
