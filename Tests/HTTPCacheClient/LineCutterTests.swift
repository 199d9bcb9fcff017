import FoundationEssentials
import Testing

@testable import http_cache_client

struct LineCutterTests {
    /// The lines of a text that arrives in pieces of this many bytes.
    private func lines(_ text: String, limit: Int = 10, piece: Int) -> [LineCutter.Line] {
        var cutter = LineCutter(limit: limit)
        var lines: [LineCutter.Line] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            lines += cutter.cut(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        if let last = cutter.finish() { lines.append(last) }
        return lines
    }

    private func text(_ text: String) -> LineCutter.Line { .text(Data(text.utf8)) }

    @Test(arguments: 1...12) func `the pieces in which bytes come do not matter`(piece: Int) {
        #expect(
            lines("a\n\nbc\n \r\n1234567890\n12345678901\nd\n", piece: piece) == [
                text("a"), text("bc"), text("1234567890"), .tooLong(limit: 10), text("d"),
            ])
    }

    @Test func `the last line needs no end`() {
        #expect(lines("a\nb", piece: 100) == [text("a"), text("b")])
        #expect(lines("12345678901", piece: 3) == [.tooLong(limit: 10)])
        #expect(lines("", piece: 1) == [])
    }
}
