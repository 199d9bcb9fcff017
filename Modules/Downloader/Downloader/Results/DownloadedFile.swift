public import AlcedoCore

/// A content that was written to a file.
public struct DownloadedFile: Sendable {
    public var path: String
    public var byteCount: Int
    /// The head of the answer; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead
    /// What a response cache on the way did; nil when there is none.
    public var caching: ResponseCaching?
}
