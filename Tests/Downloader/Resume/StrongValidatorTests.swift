import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoDownloader

@Suite struct StrongValidatorTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let date = "Tue, 14 Nov 2023 22:13:20 GMT"
    private static let minuteBefore = "Tue, 14 Nov 2023 22:12:20 GMT"

    @Test(arguments: [
        (["ETag": "\"a\""] as HTTPFields, StrongValidator.entityTag("\"a\"")),
        (["ETag": "\"\""] as HTTPFields, .entityTag("\"\"")),
        (["ETag": "\"a\"", "Last-Modified": minuteBefore, "Date": date] as HTTPFields, .entityTag("\"a\"")),
        (["Last-Modified": minuteBefore, "Date": date] as HTTPFields, .date(minuteBefore)),
        (
            ["Last-Modified": "Sunday, 06-Nov-94 08:49:37 GMT", "Date": date] as HTTPFields,
            .date("Sunday, 06-Nov-94 08:49:37 GMT")
        ),
    ])
    func `tags and sufficiently old dates are strong validators`(fields: HTTPFields, validator: StrongValidator) {
        #expect(StrongValidator(fields, now: now) == validator)
        #expect(validator.isSame(in: fields))
    }

    @Test(
        arguments: [
            [:], ["ETag": "W/\"a\""], ["ETag": "a"], ["ETag": "*"], ["ETag": ""], ["ETag": "\"a\", \"b\""],
            // A date must not replace an invalid tag.
            ["ETag": "W/\"a\"", "Last-Modified": minuteBefore, "Date": date],
            ["ETag": "a", "Last-Modified": minuteBefore, "Date": date],
            ["Last-Modified": minuteBefore], ["Date": date],
            ["Last-Modified": "Tue, 14 Nov 2023 22:12:21 GMT", "Date": date],
            ["Last-Modified": date, "Date": minuteBefore],
            ["Last-Modified": "yesterday", "Date": date], ["Last-Modified": minuteBefore, "Date": "0"],
        ] as [HTTPFields])
    func `a weak or malformed validator is not a strong validator`(fields: HTTPFields) {
        #expect(StrongValidator(fields, now: now) == nil)
    }

    @Test func `a repeated field is not a strong validator`() {
        for name in ["ETag", "Date", "Last-Modified"] {
            var fields: HTTPFields =
                name == "ETag" ? ["ETag": "\"a\""] : ["Last-Modified": Self.minuteBefore, "Date": Self.date]
            fields.append(name, fields[name] ?? "")
            #expect(StrongValidator(fields, now: now) == nil)
        }
    }

    @Test func `validators are equal only byte for byte`() {
        let tag = StrongValidator.entityTag("\"a\"")
        for other in ["\"b\"", "W/\"a\"", "\"A\"", "a"] { #expect(!tag.isSame(in: ["ETag": other])) }
        #expect(!tag.isSame(in: ["Last-Modified": Self.date]))
        let date = StrongValidator.date(Self.minuteBefore)
        #expect(!date.isSame(in: ["Last-Modified": Self.date]))
        #expect(!date.isSame(in: HTTPFields()))
        #expect(!date.isSame(in: ["Last-Modified": Self.minuteBefore, "ETag": "\"a\""]))
    }
}
