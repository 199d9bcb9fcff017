import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoDownloader

@Suite struct RetryAfterTests {
    /// 14 November 2023, 22:13:20 UTC.
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(arguments: [
        ("0", Duration.zero), ("120", .seconds(120)), ("99999999999999999999", .seconds(1 << 31)),
        ("Tue, 14 Nov 2023 22:13:50 GMT", .seconds(30)), ("Tuesday, 14-Nov-23 22:14:20 GMT", .seconds(60)),
        ("Tue Nov 14 22:13:21 2023", .seconds(1)), ("Tue, 14 Nov 2023 22:13:00 GMT", .zero),
        ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(1 << 31)),
    ])
    func `seconds and dates are parsed`(text: String, delay: Duration) {
        #expect(RetryAfter.delay(in: ["retry-after": text], now: now) == delay)
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "120 s", "Tue, 14 Nov 2023 22:13:50", "1, 2"])
    func `parsing an invalid value returns nil`(text: String) {
        #expect(RetryAfter.delay(in: ["Retry-After": text], now: now) == nil)
    }

    @Test func `missing or differing lines yield nil, and equal lines count once`() {
        #expect(RetryAfter.delay(in: HTTPFields(), now: now) == nil)
        var fields: HTTPFields = ["Retry-After": "1"]
        fields.append("Retry-After", "1")
        #expect(RetryAfter.delay(in: fields, now: now) == .seconds(1))
        fields.append("Retry-After", "2")
        #expect(RetryAfter.delay(in: fields, now: now) == nil)
    }
}
