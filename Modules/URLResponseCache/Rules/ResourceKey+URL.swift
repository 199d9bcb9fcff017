import AlcedoCore
import FoundationEssentials

extension ResourceKey {
    /// Returns the same key for all spellings of a URL that are requests for the same resource (``URLSpelling``),
    /// without the fragment and the credentials, which are not part of the request target.
    init(normal url: URL) {
        let text = url.absoluteString
        // Nearly every URL is in this form already, and then is its own key.
        self.init(URLSpelling.isNormal(text.utf8Span.span) ? text : URLSpelling.normalised(text))
    }
}
