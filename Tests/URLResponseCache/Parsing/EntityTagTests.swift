import AlcedoCore
import AlcedoHTTP
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9110 section 8.8.3.
@Suite struct EntityTagTests {
    @Test(arguments: [
        ("\"a\"", true), ("W/\"a\"", true), ("\"\"", true), ("\"a,b\"", true), ("\"a\\\"", true), ("\"é\"", true),
        ("\"", false), ("", false), ("W/", false), ("\"a\"b\"", false), ("\"a\", \"b\"", false), ("\"a b\"", false),
        ("\"a", false), ("a\"", false), ("\"a\u{7F}\"", false), ("w/\"a\"", false),
        // Invalid by the grammar, but sent by servers.
        ("a", true), ("W/a", true), ("*", false), ("a,b", false),
    ])
    func `an entity tag is a quoted string or a single bare word`(text: String, isTag: Bool) {
        #expect((EntityTag(text) != nil) == isTag)
    }

    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "W/\"1\"", false, true), ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
        ("\"a\"", "\"A\"", false, false), ("1", "1", true, true), ("1", "\"1\"", false, false),
    ])
    func `entity tags are compared strongly and weakly`(a: String, b: String, isStrong: Bool, isWeak: Bool) throws {
        let (a, b) = try (#require(EntityTag(a)), #require(EntityTag(b)))

        #expect(a.matchesStrongly(b) == isStrong)
        #expect(a.matchesWeakly(b) == isWeak)
    }

    @Test(
        arguments: [
            (["\"a\", W/\"b\""], ["\"a\"", "W/\"b\""]), (["\"a\"", "\"b\""], ["\"a\"", "\"b\""]),
            (["\"a,b\",\"c\""], ["\"a,b\"", "\"c\""]), ([",, \"a\" ,"], ["\"a\""]), (["\"a\" \"b\", \"c\""], ["\"c\""]),
            (["\"a\\\", \"b\""], ["\"a\\\"", "\"b\""]), (["*"], []), ([""], []), ([], []), (["\"a, \"b"], []),
        ] as [([String], [String])])
    func `invalid tags of a list are omitted`(lines: [String], expected: [String]) {
        #expect(EntityTag.list(lines).map(\.text) == expected)
    }
}
