public import FoundationEssentials

/// The status and fields of a response.
public struct HTTPResponseHead: Sendable, Hashable {
    /// The URL that the response belongs to: after redirects, that of the last request.
    public var url: URL
    /// The three-digit status code. Unknown codes are passed on.
    public var status: Int
    /// The header fields.
    public var fields: HTTPFields

    /// Creates a head; by default without fields.
    public init(url: URL, status: Int, fields: HTTPFields = HTTPFields()) {
        self.url = url
        self.status = status
        self.fields = fields
    }

    /// The length that the head declares for the body. The value is nil if `Content-Length` is missing or is not one
    /// decimal number within the range of `Int`, or if the body has a content coding, which may change the length.
    package var declaredBodyLength: Int? {
        guard fields["Content-Encoding"] == nil, let value = fields["Content-Length"] else { return nil }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(value)
    }
}
