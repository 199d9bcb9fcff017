import AlcedoHTTP
public import FoundationEssentials

extension URL {
    /// Creates an `http` or `https` URL from text as it occurs in web pages, feeds and configuration files, by the
    /// rules of browsers.
    ///
    /// ```swift
    /// guard let url = URL(webString: "https://example.org/my%20file 2.png") else { return }
    /// let image = try await pipeline.image(for: ImageRequest(url: url))
    /// ```
    ///
    /// `URL(string:)` escapes the escapes of such a text again, so that the server receives `my%2520file%202.png`. This
    /// initializer keeps escapes and escapes only the characters that need it. A percent sign that is not part of an
    /// escape becomes `%25`. Whitespace at the ends, tabs and line breaks are removed, a backslash counts as a slash,
    /// and dot segments are resolved. A host name outside of ASCII is converted to Punycode if the process has libidn2,
    /// as with `AlcedoCURL` on Debian. The text can be a reference that is relative to `base`, such as `../a.png`.
    ///
    /// Returns nil if the result is not an `http` or `https` URL, or has no valid host. Source: URL Standard (WHATWG).
    ///
    /// - Parameters:
    ///   - webString: The text of a URL, or of a reference.
    ///   - base: The URL of the document that contains a relative reference. Default: nil, only absolute URLs are
    ///     accepted.
    /// - Complexity: O(length).
    public init?(webString: String, relativeTo base: URL? = nil) {
        guard let parsed = WebURL(webString, relativeTo: base.flatMap { WebURL($0.absoluteString) }) else { return nil }
        self.init(string: parsed.text)
    }
}
