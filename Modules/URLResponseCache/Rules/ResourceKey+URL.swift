import AlcedoCore
import FoundationEssentials

extension ResourceKey {
    /// Names a URL the same for all spellings that RFC 9110 section 4.2.3 and RFC 3986 section 6.2.2 call equal: without
    /// the fragment and the credentials, which are no part of what is asked for, with scheme and host in lower case,
    /// without the scheme's own port, with a path that has no dots to resolve, and with no more escapes than it needs.
    init(normal url: URL) {
        let text = url.absoluteString
        // Nearly every URL is in this form already, and then is its own key.
        self.init(URLSpelling.isNormal(text.utf8Span.span) ? text : URLSpelling.normalised(text))
    }
}
