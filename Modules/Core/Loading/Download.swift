public import FoundationEssentials

/// The content of a source.
public struct Download: Sendable {
    public var data: Data
    /// The head of the answer, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?

    public init(data: Data, head: HTTPResponseHead? = nil) {
        self.data = data
        self.head = head
    }

    /// Whether a copy may be kept on disk: the server does not forbid it (RFC 9111 section 5.2.2.5).
    public var allowsStoring: Bool { head.map { !$0.fields.list("Cache-Control", contains: "no-store") } ?? true }
}
