import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9110 section 5.6.7.
@Suite struct HTTPDateTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let example = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994", "sun, 06 NOV 1994 08:49:37 gmt", "Mon, 06 Nov 1994 08:49:37 GMT",
    ])
    func `the three date formats are parsed`(text: String) {
        #expect(HTTPDate.parse(text, now: Self.example) == Date(timeIntervalSince1970: 784_111_777))
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
    func `parsing an invalid date returns nil`(text: String) {
        #expect(HTTPDate.parse(text, now: Self.example) == nil)
    }

    /// Relative to 1994 and to 2023.
    @Test(arguments: [
        ("94", 1994, 1994), ("44", 2044, 2044), ("45", 1945, 2045), ("00", 2000, 2000), ("99", 1999, 1999),
        ("73", 1973, 2073), ("74", 1974, 1974), ("23", 2023, 2023),
    ])
    func `a two-digit year is at most fifty years in the future`(short: String, in1994: Int, in2023: Int) throws {
        for (now, year) in [(Self.example, in1994), (start, in2023)] {
            let date = try #require(HTTPDate.parse("Sunday, 06-Nov-\(short) 08:49:37 GMT", now: now))
            #expect(HTTPDate.format(date).contains(" \(year) "))
        }
    }

    @Test func `a formatted date parses to the same date`() {
        #expect(HTTPDate.format(Self.example) == "Sun, 06 Nov 1994 08:49:37 GMT")
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
}
