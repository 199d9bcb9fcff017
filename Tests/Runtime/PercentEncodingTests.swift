import AlcedoRuntime
import Testing

@Suite struct PercentEncodingTests {
    @Test func `every byte is encoded and decoded to itself`() {
        let bytes = (0...UInt8.max).map { $0 }
        let text = bytes.percentEncoded(except: \.isUnreserved)

        #expect(text.utf8.percentDecoded() == bytes)
        #expect(text.utf8.percentDecodedLeniently() == bytes)
        #expect(text.lowercased().utf8.percentDecoded()?.count == bytes.count)
    }

    @Test(arguments: ["%", "a%4", "%4", "%zz", "%+1", "%%41", "%4%31"])
    func `an incomplete percent-encoding is an error or stays unchanged`(text: String) {
        #expect(text.utf8.percentDecoded() == nil)
        let expected = text == "%%41" ? "%A" : text == "%4%31" ? "%41" : text
        #expect(text.utf8.percentDecodedLeniently() == Array(expected.utf8))
    }

    @Test func `only ASCII digits and letters are hexadecimal digits`() {
        let digits = (0...UInt8.max).filter { $0.hexadecimalValue != nil }

        #expect(String(decoding: digits, as: UTF8.self) == "0123456789ABCDEFabcdef")
        #expect(digits.compactMap(\.hexadecimalValue) == Array(0...15) + Array(10...15))
    }
}
