import Testing

@testable import AlcedoTesting

@Suite struct OriginParserTests {
    /// A parser that accepts heads of at most 64 bytes.
    private var parser: OriginParser

    init() {
        var options = OriginOptions()
        options.headLimit = 64
        parser = OriginParser(options: options)
    }

    /// Returns a head of `count` bytes, without its empty line.
    private func head(of count: Int) -> String {
        let start = "GET / HTTP/1.1\r\nA: "
        return start + String(repeating: "a", count: count - start.utf8.count)
    }

    @Test(arguments: 0...3) mutating func `a head at the limit may end in two pieces`(count: Int) {
        let end = "\r\n\r\n".utf8
        parser.append(head(of: 64).utf8)
        parser.append(end.prefix(count))
        #expect(parser.next() == .incomplete)

        parser.append(end.dropFirst(count))

        guard case .message = parser.next() else {
            Issue.record("the request is rejected")
            return
        }
    }

    @Test mutating func `a head above the limit is rejected before it ends`() {
        parser.append((head(of: 65) + "\r\n\r").utf8)

        #expect(parser.next() == .rejected(status: 431))
    }

    @Test(arguments: [("HTTP/1.1", .expectsContinue), ("HTTP/1.0", .incomplete)] as [(String, OriginParser.Outcome)])
    mutating func `an expectation is ignored in HTTP/1.0`(version: String, outcome: OriginParser.Outcome) {
        parser.append("PUT / \(version)\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n".utf8)

        #expect(parser.next() == outcome)
    }
}
