/// An answer: its head, which has arrived, and its body, which may still be on its way.
public struct HTTPResponse: Sendable {
    public var head: HTTPResponseHead
    public var body: HTTPBody

    public init(head: HTTPResponseHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}
