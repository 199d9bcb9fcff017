import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@Suite struct HTTPFieldsTests {
    @Test func `names are compared case-insensitively, and values are unchanged`() {
        let fields: HTTPFields = ["Content-Type": "Image/PNG"]
        #expect(fields["content-TYPE"] == "Image/PNG")
        #expect(fields["content-type "] == nil)
        #expect(fields["content_type"] == nil)
    }

    @Test func `lines of one name are joined, in order`() {
        var fields: HTTPFields = ["Vary": "a", "X": "1", "vary": "b"]
        fields.append("VARY", "c")
        #expect(fields["Vary"] == "a, b, c")
        #expect(fields.values(of: "vary") == ["a", "b", "c"])
        #expect(fields.fields.map(\.name) == ["Vary", "X", "vary", "VARY"])
    }

    @Test func `iteration yields the lines in order`() {
        let fields: HTTPFields = ["Vary": "a", "X": "1", "vary": "b"]

        var lines: [String] = []
        for field in fields { lines.append("\(field.name)=\(field.value)") }
        #expect(lines == ["Vary=a", "X=1", "vary=b"])
        #expect(fields.filter { $0.value == "1" } == [HTTPFields.Field("X", "1")])
    }

    @Test func `the description shows names and values, but no credentials`() {
        let fields: HTTPFields = [
            "Vary": "a", "authorization": "Basic c2VjcmV0", "Set-Cookie": "id=secret", "vary": "b",
        ]

        #expect("\(fields)" == "[Vary: a, authorization: ..., Set-Cookie: ..., vary: b]")
        #expect("\(HTTPFields())" == "[]")
    }

    @Test func `many lines of one name are joined in linear time`() {
        let line = HTTPFields.Field("a", String(repeating: "x", count: 200))
        let (short, long) = (
            HTTPFields(Array(repeating: line, count: 2_500)), HTTPFields(Array(repeating: line, count: 10_000))
        )

        LinearTime.expect({ _ = short["A"] }, fourTimes: { _ = long["A"] })
    }

    @Test func `setting replaces all lines, and nil removes them`() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        fields["a"] = "4"
        #expect(fields.values(of: "A") == ["4"])
        fields["A"] = nil
        #expect(fields.fields == [HTTPFields.Field("B", "2")])
    }

    @Test(arguments: [
        ("no-store", true), ("NO-STORE", true), ("max-age=5, no-store", true), ("max-age=5 ,\tno-store ", true),
        ("no-store=\"x\"", true), ("no-store;a", true), ("no-storex", false), ("x-no-store", false), ("", false),
        ("max-age=5", false),
    ])
    func `a member of a list is found with any surrounding whitespace`(value: String, isThere: Bool) {
        #expect(
            HTTPFields([HTTPFields.Field("cache-control", value)]).list("Cache-Control", contains: "no-store")
                == isThere)
    }

    @Test func `members are found in every line`() {
        let fields: HTTPFields = ["Cache-Control": "public", "cache-control": "no-store"]
        #expect(fields.list("Cache-Control", contains: "no-store"))
        #expect(!fields.list("Pragma", contains: "no-store"))
    }

    @Test(
        arguments: [
            ("0", 0), ("123", 123), ("0009", 9), ("-1", nil), ("+1", nil), ("1.0", nil), ("", nil), ("0x10", nil),
            ("99999999999999999999", nil), ("5, 5", nil), ("1 2", nil), ("٣", nil),
        ] as [(String, Int?)])
    func `a declared length is one plain number`(value: String, length: Int?) throws {
        let head = HTTPResponseHead(url: try url(), status: 200, fields: ["Content-Length": value])
        #expect(head.declaredBodyLength == length)
    }

    @Test func `a content coding or a repeated field makes the length unknown`() throws {
        let url = try url()
        let coded: HTTPFields = ["Content-Length": "5", "Content-Encoding": "gzip"]
        let twice: HTTPFields = ["Content-Length": "5", "content-length": "6"]
        #expect(HTTPResponseHead(url: url, status: 200, fields: coded).declaredBodyLength == nil)
        #expect(HTTPResponseHead(url: url, status: 200, fields: twice).declaredBodyLength == nil)
        #expect(HTTPResponseHead(url: url, status: 200).declaredBodyLength == nil)
    }

    @Test func `a download may be stored unless its response has no-store`() throws {
        let url = try url()
        let forbidden = HTTPResponseHead(url: url, status: 200, fields: ["Cache-Control": "private, No-Store"])
        let allowed = HTTPResponseHead(url: url, status: 200, fields: ["Cache-Control": "no-cache"])
        #expect(!Download(data: Data(), head: forbidden).allowsStoring)
        #expect(Download(data: Data(), head: allowed).allowsStoring)
        #expect(Download(data: Data()).allowsStoring)
    }

    private func url() throws -> URL { try #require(URL(string: "http://127.0.0.1/a")) }
}
