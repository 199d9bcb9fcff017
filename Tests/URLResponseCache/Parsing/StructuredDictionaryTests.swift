import AlcedoCore
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9651 section 4.2.2.
@Suite struct StructuredDictionaryTests {
    private typealias Value = StructuredValue

    @Test(
        arguments: [
            ("a", .boolean(true)), ("a=?0", .boolean(false)), ("a=?1", .boolean(true)), ("a=5", .integer(5)),
            ("a=-5", .integer(-5)), ("a=999999999999999", .integer(999_999_999_999_999)), ("a=x", .token("x")),
            ("a=*x/y:z", .token("*x/y:z")), ("a=\"x, \\\"y\\\\\"", .string("x, \"y\\")), ("a=1.5", .other),
            ("a=:AAAA:", .other), ("a=(1 2)", .other), ("a=(\"x\";p 2);q=1", .other), ("a=@5", .other),
            ("a=%\"x\"", .other), ("a;p;q=1", .boolean(true)), ("a=5;p=?0", .integer(5)), ("  a=5  ", .integer(5)),
            ("b , \t a=5", .integer(5)), ("a=1, a=2", .integer(2)), ("a=5,b=(), c", .integer(5)),
            ("a=1000000000000000", nil), ("a=5,", nil), ("a=5,,b", nil), (",a=5", nil), ("A=5", nil), ("a= 5", nil),
            ("a =5", nil), ("a=", nil), ("a=\"x", nil), ("a=\"\\x\"", nil), ("a=(1", nil), ("a=(1,2)", nil),
            ("a=?2", nil), ("a=5;", nil), ("a=5;P", nil), ("a=5 b", nil), ("\ta=5", nil), ("a=1.", nil),
            ("a=1.2345", nil), ("a=\"é\"", nil), ("é=1", nil), ("a=5, b=\"", nil), ("a=--5", nil), ("a=:é:", nil),
        ] as [(String, StructuredValue?)])
    func `a dictionary is parsed completely or not at all`(text: String, expected: StructuredValue?) {
        let found = StructuredDictionary(text)?.members.first { $0.key == "a" }?.value

        #expect(found == expected)
    }

    @Test func `an empty field is an empty dictionary`() throws {
        for text in ["", "  "] { #expect(try #require(StructuredDictionary(text)).members.isEmpty) }
    }

    @Test func `members keep their order, and a repeated key its first position`() throws {
        let members = try #require(StructuredDictionary("a=1, b, a=2")).members

        #expect(members.map(\.key) == ["a", "b"])
        #expect(members.map(\.value) == [.integer(2), .boolean(true)])
    }
}
