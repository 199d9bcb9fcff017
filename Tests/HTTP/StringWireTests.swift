import AlcedoCore
import AlcedoHTTP
import Testing

struct StringWireTests {
    @Test func `each byte is one code point in both directions`() {
        let bytes = [UInt8](0...255)
        let text = String(latin1: bytes)
        #expect(text.unicodeScalars.map(\.value) == bytes.map(UInt32.init))
        #expect(text.latin1 == bytes)
        #expect(String(latin1: []) == "")
        #expect("".latin1 == [])
    }

    @Test(arguments: ["\u{100}", "a\u{20AC}", "e\u{301}", "\u{1F426}"])
    func `text with other code points has no bytes`(text: String) {
        #expect(text.latin1 == nil)
    }

    @Test(arguments: 0...255)
    func `a token has the characters that the standard lists`(byte: Int) {
        let isExpected = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
            .contains(UInt8(byte))
        #expect("a\(Character(Unicode.Scalar(UInt8(byte))))b".isToken == isExpected)
    }

    @Test func `an empty text is no token`() {
        #expect(!"".isToken)
    }
}
