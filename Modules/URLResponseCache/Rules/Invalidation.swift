import AlcedoCore
import FoundationEssentials

/// What a request that may have changed something makes useless. Source: RFC 9111 section 4.4.
enum Invalidation {
    /// The resources to forget after an answer; none after an error, which changes nothing.
    static func resources(after head: HTTPResponseHead, to request: HTTPRequest) -> [ResourceKey] {
        guard (200..<400).contains(head.status) else { return [] }
        let named = ["Location", "Content-Location"].compactMap { name -> ResourceKey? in
            guard let text = head.fields.values(of: name).first,
                let url = URL(string: text, relativeTo: request.url)?.absoluteURL,
                origin(url) == origin(request.url)
            else { return nil }
            return ResourceKey(normal: url)
        }
        return [request.resourceKey] + named
    }

    /// What another site says about a resource must not remove it.
    private static func origin(_ url: URL) -> Substring {
        let text = ResourceKey(normal: url).description
        guard let start = text.firstRange(of: "://")?.upperBound else { return text[...] }
        return text[..<start] + text[start...].prefix { $0 != "/" }
    }
}
