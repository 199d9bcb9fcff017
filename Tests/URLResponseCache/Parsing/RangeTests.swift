import AlcedoCore
import AlcedoHTTP
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9110 sections 14.1.2 and 14.4.
@Suite struct RangeTests {
    @Test(
        arguments: [
            ("bytes=0-4", .from(0, through: 4)), ("bytes=5-", .from(5, through: nil)), ("bytes=-3", .last(3)),
            ("BYTES=0-0", .from(0, through: 0)), ("bytes = 1-2 ", .from(1, through: 2)), ("bytes=-0", .last(0)),
            ("bytes=0-99999999999999999999", .from(0, through: .max)),
            ("bytes=4-0", nil), ("bytes=", nil), ("bytes=-", nil), ("bytes", nil), ("", nil), ("bytes=a-b", nil),
            ("bytes=0-1,3-4", nil), ("lines=0-1", nil), ("bytes=+1-2", nil), ("bytes=1 - 2", nil), ("bytes=--1", nil),
            ("bytes=0x1-2", nil),
        ] as [(String, ByteRange?)])
    func `one byte range is parsed`(text: String, expected: ByteRange?) {
        #expect(ByteRange(text) == expected)
    }

    @Test(
        arguments: [
            ("bytes=0-4", 10, 0..<5), ("bytes=0-99", 10, 0..<10), ("bytes=9-", 10, 9..<10), ("bytes=10-", 10, nil),
            ("bytes=-3", 10, 7..<10), ("bytes=-99", 10, 0..<10), ("bytes=-0", 10, nil), ("bytes=0-0", 0, nil),
            ("bytes=-1", 0, nil), ("bytes=0-99999999999999999999", 10, 0..<10),
            ("bytes=99999999999999999999-", 10, nil),
        ] as [(String, Int, Range<Int>?)])
    func `a range is limited to the content`(text: String, count: Int, expected: Range<Int>?) throws {
        #expect(try #require(ByteRange(text)).resolved(in: count) == expected)
    }

    @Test(
        arguments: [
            ("bytes 0-4/10", ContentRange(bytes: 0..<5, completeCount: 10)),
            ("bytes 5-9/*", ContentRange(bytes: 5..<10, completeCount: nil)),
            ("BYTES 0-0/1", ContentRange(bytes: 0..<1, completeCount: 1)),
            ("bytes */10", nil), ("bytes 0-10/10", nil), ("bytes 4-3/10", nil), ("bytes 0-4", nil), ("0-4/10", nil),
            ("lines 0-4/10", nil), ("bytes 0-4/x", nil), ("bytes 0-4/10/10", nil), ("bytes -4/10", nil), ("", nil),
            ("bytes 0-4/99999999999999999999", nil), ("bytes 0-99999999999999999999/*", nil), ("bytes=0-4/10", nil),
        ] as [(String, ContentRange?)])
    func `a Content-Range is parsed`(text: String, expected: ContentRange?) {
        #expect(ContentRange(text) == expected)
    }

    @Test func `a formatted Content-Range parses to the same range`() {
        for text in ["bytes 0-4/10", "bytes 5-9/*"] { #expect(ContentRange(text)?.text == text) }
    }
}
