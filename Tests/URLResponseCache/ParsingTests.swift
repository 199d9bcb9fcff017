import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

@Suite struct ParsingTests {
    @Test(
        arguments: [
            ("max-age=60", DeltaSeconds.value(60)), ("MAX-AGE=60", .value(60)), ("max-age=\"60\"", .value(60)),
            ("  max-age=60 , no-cache", .value(60)), (",,max-age=60,,", .value(60)), ("\tmax-age=60\t", .value(60)),
            ("max-age=\"\\6\\0\"", .value(60)), ("max-age=007", .value(7)), ("a=\"max-age=5\", max-age=60", .value(60)),
            ("max-age=2147483649", .value(1 << 31)), ("max-age=99999999999999999999999", .value(1 << 31)),
            ("max-age=60, max-age=60", .value(60)), ("max-age=60, max-age=70", .invalid), ("max-age", .invalid),
            ("max-age=", .invalid), ("max-age=-1", .invalid), ("max-age=+1", .invalid), ("max-age=1.5", .invalid),
            ("max-age=6 0", .invalid), ("max-age= 60", .invalid), ("max-age =60", .invalid), ("max-age=60;x", .invalid),
            ("max-age=\"60\"x", .invalid), ("max-age=١", .invalid), ("max-age='60'", .invalid),
            ("max-age=0x10", .invalid),
            ("max-agee=60", nil), ("x-max-age=60", nil), ("", nil), ("private=\"max-age=60\"", nil),
        ] as [(String, DeltaSeconds?)])
    func `the seconds of a directive`(line: String, expected: DeltaSeconds?) {
        #expect(CacheControl(["Cache-Control": line]).seconds("max-age") == expected)
    }

    @Test(arguments: [
        ("no-store", true), ("NO-Store", true), ("max-age=5,no-store", true), ("no-store=1", true),
        ("x=\"a, b\" , no-store", true), ("no-store ;x", false), ("x=\"no-store\"", false),
        ("x=\"a\\\", no-store\"", false),
        // A quotation that does not end may hide anything.
        ("max-age=5, x=\"no", true), ("x=\"\\", true), ("a\"b, no-store, c\"d", true),
    ])
    func `what forbids storing`(line: String, expected: Bool) {
        #expect(CacheControl(["Cache-Control": line]).forbidsStoring == expected)
    }

    @Test func `several lines are one list`() {
        let control = CacheControl(["Cache-Control": "max-age=5", "cache-control": "No-Cache=\"a, b\", private"])

        #expect(control.seconds("max-age") == .value(5))
        #expect(control.contains("no-cache") && control.contains("private") && !control.contains("b"))
        #expect(
            CacheControl(["Cache-Control": "max-age=5", "CACHE-CONTROL": "max-age=6"]).seconds("max-age") == .invalid)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994", "sun, 06 NOV 1994 08:49:37 gmt", "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func `the three forms of a date are read`(text: String) {
        #expect(HTTPDate.parse(text, now: ManualClock.start) == Date(timeIntervalSince1970: 784_111_777))
    }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun,  06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", ", , , , , GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "     ", "é", "Sunday, 06-Nov- 08:49:37 GMT",
    ])
    func `what is no date is not read`(text: String) {
        #expect(HTTPDate.parse(text, now: ManualClock.start) == nil)
    }

    @Test(arguments: [("94", 1994), ("44", 2044), ("45", 1945), ("00", 2000), ("99", 1999)])
    func `a year of two digits is at most fifty years ahead`(short: String, year: Int) throws {
        // 6 November of the year of the clock's start, 1994, and others.
        let date = try #require(HTTPDate.parse("Sunday, 06-Nov-\(short) 08:49:37 GMT", now: ManualClock.start))

        #expect(HTTPDate.format(date).contains(" \(year) "))
    }

    @Test func `dates are written as they are read`() {
        #expect(HTTPDate.format(ManualClock.start) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: -0.5)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.format(.distantPast).hasSuffix(" 0001 00:00:00 GMT"))
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 1e300)) == "Fri, 31 Dec 9999 23:59:59 GMT")
        for seconds in stride(from: -62_135_596_800, through: 253_402_300_799, by: 86_400 * 911 + 4_321) {
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(HTTPDate.parse(HTTPDate.format(date), now: date) == date)
        }
    }

    @Test(arguments: [
        ("\"a\"", true), ("W/\"a\"", true), ("\"\"", true), ("a", false), ("\"", false), ("", false),
        ("w/\"a\"", false),
        ("\"a\"b\"", false), ("\"a\", \"b\"", false), ("\"a b\"", false), ("W/", false),
    ])
    func `an entity tag is one quoted text`(text: String, isTag: Bool) {
        #expect((EntityTag(text) != nil) == isTag)
    }

    @Test(arguments: [
        ("HTTP://Example.TEST/a.png#b", "http://example.test/a.png"), ("http://h:80", "http://h/"),
        ("https://h:443/x", "https://h/x"), ("https://h:80/x", "https://h:80/x"), ("http://h?Q=A", "http://h/?Q=A"),
        ("http://U:P@H/", "http://U:P@h/"), ("http://[::1]:80/A", "http://[::1]/A"), ("http://h:/", "http://h/"),
    ])
    func `equal URLs are stored under one`(spelling: String, expected: String) throws {
        let url = try #require(URL(string: spelling))

        #expect(HTTPRequest(url: url).storageURL.absoluteString == expected)
    }
}
