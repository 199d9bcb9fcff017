import AlcedoCore
import AlcedoHTTP
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9111 sections 1.2.2, 4.2.1 and 5.2.
@Suite struct CacheControlTests {
    @Test(
        arguments: [
            ("max-age=60", DeltaSeconds.value(60)), ("MAX-AGE=60", .value(60)), ("max-age=\"60\"", .value(60)),
            ("  max-age=60 , no-cache", .value(60)), (",,max-age=60,,", .value(60)), ("\tmax-age=60\t", .value(60)),
            ("max-age=\"\\6\\0\"", .value(60)), ("max-age=007", .value(7)), ("a=\"max-age=5\", max-age=60", .value(60)),
            ("max-age=2147483647", .value(2_147_483_647)), ("max-age=2147483648", .value(1 << 31)),
            ("max-age=2147483649", .value(1 << 31)), ("max-age=99999999999999999999999", .value(1 << 31)),
            ("max-age=9223372036854775807", .value(1 << 31)), ("max-age=9223372036854775808", .value(1 << 31)),
            ("max-age=60, max-age=60", .value(60)), ("max-age=60, max-age=70", .invalid), ("max-age", .invalid),
            ("max-age=60, max-age=x", .invalid), ("max-age=x, max-age=60", .invalid), ("max-age, max-age=1", .invalid),
            ("max-age=", .invalid), ("max-age=-1", .invalid), ("max-age=+1", .invalid), ("max-age=1.5", .invalid),
            ("max-age=6 0", .invalid), ("max-age= 60", .invalid), ("max-age =60", .invalid), ("max-age=60;x", .invalid),
            ("max-age=\"60\"x", .invalid), ("max-age=\" 60\"", .invalid),
            ("max-age=١", .invalid), ("max-age='60'", .invalid), ("max-age=0x10", .invalid), ("max-age=1e3", .invalid),
            ("max-agee=60", nil), ("x-max-age=60", nil), ("max_age=60", nil), ("", nil), (" , ,", nil),
            ("private=\"max-age=60\"", nil), ("a;max-age=60", nil),
        ] as [(String, DeltaSeconds?)])
    func `directives with seconds are parsed`(line: String, expected: DeltaSeconds?) {
        #expect(CacheControl(["Cache-Control": line]).seconds("max-age") == expected)
    }

    @Test(arguments: [
        ("no-store", true), ("NO-Store", true), ("max-age=5,no-store", true), ("no-store=1", true),
        ("no-store=\"x\"", true), ("x=\"a, b\" , no-store", true), ("no-store ;x", false), ("x=\"no-store\"", false),
        ("x=\"a\\\", no-store\"", false), ("no-storee", false), ("no -store", false),
        // An unterminated quoted string may hide any directive.
        ("max-age=5, x=\"no", true), ("x=\"\\", true), ("x=\"\\\"", true), ("a\"b, no-store, c\"d", true),
        ("max-age=5\", private", true), ("max-age=5, x\"no-store\"", true), ("x=\"a\\\"", true),
    ])
    func `directives that forbid storing are recognized`(line: String, expected: Bool) {
        #expect(CacheControl(["Cache-Control": line]).forbidsStoring == expected)
    }

    @Test(
        arguments: [
            ("no-cache", true, []), ("no-cache=\"A, b\"", false, ["a", "b"]), ("no-cache=a", false, ["a"]),
            ("no-cache=\"\"", true, []), ("no-cache=\" , \"", true, []), ("no-cache=", true, []),
            ("no-cache=\"a b\"", true, []), ("no-cache=\"a, (\"", true, []),
            ("no-cache=\"a\", no-cache", true, ["a"]), ("no-cache=\"a\", no-cache=\"b\"", false, ["a", "b"]),
            ("no-cache =\"a\"", true, []), ("max-age=1", false, []),
        ] as [(String, Bool, [String])])
    func `a directive applies to the fields it names or to the whole response`(
        line: String, isForAll: Bool, names: [String]
    ) {
        let control = CacheControl(["Cache-Control": line])

        #expect(control.containsUnqualified("no-cache") == isForAll)
        #expect(control.fieldNames(of: "no-cache") == names)
    }

    @Test func `several lines form one list`() {
        let control = CacheControl(["Cache-Control": "max-age=5", "cache-control": "No-Cache=\"a, b\", private"])

        #expect(control.seconds("max-age") == .value(5))
        #expect(control.contains("no-cache"))
        #expect(control.contains("private"))
        #expect(!control.contains("b"))
        #expect(
            CacheControl(["Cache-Control": "max-age=5", "CACHE-CONTROL": "max-age=6"]).seconds("max-age") == .invalid)
        // A quoted string does not continue on the next line.
        #expect(CacheControl(["Cache-Control": "x=\"a", "cache-control": "b\""]).forbidsStoring)
    }

    @Test func `an excessive number of directives is rejected`() {
        let line = (0..<256).map { "x\($0)=1" }.joined(separator: ",")

        #expect(!CacheControl(["Cache-Control": line]).forbidsStoring)
        #expect(CacheControl(["Cache-Control": line + ",y"]).forbidsStoring)
    }
}
