import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoCURL

/// Without libcurl, which joins continuation lines itself in newer versions.
@Suite struct ResponseHeadParserTests {
    private func fields(_ lines: [String]) throws -> HTTPFields? {
        var parser = ResponseHeadParser(url: try #require(URL(string: "http://a/")))
        for line in ["HTTP/1.1 200 OK"] + lines {
            _ = try Array("\(line)\r\n".utf8).withUnsafeBytes { try parser.receive($0) }
        }
        return try Array("\r\n".utf8).withUnsafeBytes { try parser.receive($0) }?.final.fields
    }

    @Test func `a line that begins with white space continues the previous field`() throws {
        #expect(try fields(["A: 1", "  2", "\t3", "B: 4"]) == ["A": "1 2 3", "B": "4"])
    }

    @Test(arguments: ["bad name: x", ": x", "no field"])
    func `a line that continues a dropped field is dropped with it`(dropped: String) throws {
        #expect(
            try fields(["Cache-Control: no-store", dropped, " max-age=100", "\t200", "B: 4"])
                == ["Cache-Control": "no-store", "B": "4"])
        #expect(try fields([dropped, " x", "B: 4", " 5"]) == ["B": "4 5"])
    }

    @Test(arguments: ["\rA: 1", "HTTP/1.1 none", "A: " + String(repeating: "x", count: 256 << 10)])
    func `an invalid header is an error that names the URL`(line: String) {
        let error = #expect(throws: HTTPTransportError.self) { try fields([line]) }
        #expect(error?.code == .invalidResponse)
        #expect(error.map { "\($0)".contains(" of http://a/ ") } == true)
    }

    @Test func `a continuation line without a field is dropped`() throws {
        #expect(try fields([" x", "A: 1"]) == ["A": "1"])
    }
}
