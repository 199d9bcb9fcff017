import Alcedo
import FoundationEssentials
import Testing

@testable import thumbnail_server

struct OriginTermsTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    private func terms(_ fields: HTTPFields) throws -> OriginTerms {
        let url = try #require(URL(string: "https://a.test/"))
        return OriginTerms(
            Download(data: Data(), head: HTTPResponseHead(url: url, status: 200, fields: fields)), now: now)
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 60), (["Cache-Control": "max-age=60, s-maxage=\"30\""], 30),
            (["Cache-Control": "public, MAX-AGE = 60", "Age": "50"], 10),
            (["Cache-Control": "no-cache, max-age=60"], 0),
            (["Cache-Control": "max-age=rubbish"], 0),
            (["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            (["Expires": "0"], 0), (["Cache-Control": "max-age=10", "Expires": "0"], 10),
        ] as [(HTTPFields, Double)])
    func `the origin says how long its answer is fresh`(fields: HTTPFields, seconds: Double) throws {
        let terms = try terms(fields)
        #expect(terms.allowsStoring)
        #expect(terms.freshUntil?.timeIntervalSince(now) == seconds)
    }

    @Test(arguments: ["no-store", "private", "max-age=60, no-store", "private=\"Set-Cookie\", max-age=5"])
    func `what the origin forbids to keep nobody keeps`(control: String) throws {
        let terms = try terms(["Cache-Control": control])
        #expect(terms.freshUntil(from: now, atMost: .seconds(60)) == nil)
    }

    @Test func `the longest life is the server's own, whatever the origin says`() throws {
        for fields: HTTPFields in [[:], ["Cache-Control": "max-age=31536000"]] {
            let date = try terms(fields).freshUntil(from: now, atMost: .seconds(60))
            #expect(date?.timeIntervalSince(now) == 60)
        }
    }
}
