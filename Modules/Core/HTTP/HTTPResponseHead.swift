public import FoundationEssentials

/// The status and fields of an answer.
public struct HTTPResponseHead: Sendable, Hashable {
    /// The URL that was asked for.
    public var url: URL
    /// A three-digit number; unknown ones are passed on.
    public var status: Int
    /// The header fields.
    public var fields: HTTPFields

    /// A head; by default without fields.
    public init(url: URL, status: Int, fields: HTTPFields = HTTPFields()) {
        self.url = url
        self.status = status
        self.fields = fields
    }

    /// Whether the status says that the request succeeded: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// The length that the head declares for the body, when it is one non-negative decimal number and no content
    /// coding changes it on the way.
    public var declaredBodyLength: Int? {
        guard fields["Content-Encoding"] == nil, let value = fields["Content-Length"] else { return nil }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(value)
    }
}
