import AlcedoHTTP
import FoundationEssentials
import Testing

@Suite struct VaryingFieldsTests {
    private func request(_ fields: HTTPFields, _ url: String = "http://h/a") throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: url)), fields: fields)
    }

    @Test(arguments: [
        (["X-A"], ["x-a"]), (["b, A ,,b"], ["a", "b"]), (["B", "a"], ["a", "b"]), ([], []), ([""], []),
        (["Accept-Encoding"], []), (["accept-encoding, DPR"], ["dpr"]),
    ])
    func `names are sorted and in lower case, without Accept-Encoding`(lines: [String], names: [String]) {
        let fields = HTTPFields(lines.map { HTTPFields.Field("Vary", $0) })
        #expect(VaryingFields(of: fields) == .fields(names))
    }

    @Test(arguments: ["*", "a, *", "a b", "é", (0...32).map { "f\($0)" }.joined(separator: ",")])
    func `other lists mean everything`(line: String) {
        #expect(VaryingFields(of: ["Vary": line]) == .everything)
        #expect(VaryingFields(of: ["Vary": line]).names == nil)
    }

    @Test func `two responses vary by the fields of both`() {
        #expect(VaryingFields(["b"]).union(VaryingFields(["A"])) == .fields(["a", "b"]))
        #expect(VaryingFields.none.union(.none) == .none)
        #expect(VaryingFields(["a"]).union(.everything) == .everything)
        let many = VaryingFields((0..<20).map { "a\($0)" })
        #expect(many.union(VaryingFields((0..<20).map { "b\($0)" })) == .everything)
    }

    @Test func `digests differ for other names and values, and not for values with the same meaning`() throws {
        let digests = [
            VaryingFields(["x-a"]).digest(of: try request(["X-A": "1"])),
            VaryingFields(["x-a"]).digest(of: try request(["X-A": "2"])),
            VaryingFields(["x-a"]).digest(of: try request(["X-A": ""])),
            VaryingFields(["x-a"]).digest(of: try request([:])),
            VaryingFields(["x-b"]).digest(of: try request([:])),
            VaryingFields(["x-a", "x-b"]).digest(of: try request(["X-A": "1"])),
            VaryingFields(["x-a", "x-b"]).digest(of: try request(["X-A": "1\nx-b:1:2"])),
            VaryingFields(["x-a", "x-b"]).digest(of: try request(["X-A": "1", "X-B": "2"])),
            VaryingFields(["authorization"]).digest(of: try request([:], "http://me:secret@h/a")),
            VaryingFields(["authorization"]).digest(of: try request([:])),
            VaryingFields.everything.digest(of: try request([:])),
        ]
        #expect(Set(digests).count == digests.count)
        let languages = VaryingFields(["accept-language"])
        #expect(
            try languages.digest(of: request(["Accept-Language": "de, en;q=0.5"]))
                == languages.digest(of: request(["accept-language": "EN;q=0.50 ,de"])))
    }

    @Test func `a later request with values that the first does not tell varies by everything`() throws {
        let first = try request(["X-A": "1", "Authorization": "me"])
        let fields = VaryingFields(["x-a"])
        for later: HTTPFields in [["X-A": "1", "Authorization": "me"], ["X-A": "1"], [:], ["X-B": "2"]] {
            #expect(try fields.asSeen(from: first, sending: request(later, "http://other/b")) == fields)
        }
        for later: HTTPFields in [["X-A": "2"], ["Authorization": "you"], ["Cookie": "you"]] {
            #expect(try fields.asSeen(from: first, sending: request(later, "http://other/b")) == .everything)
        }
        // Credentials in a URL count as well.
        let plain = try request(["X-A": "1"], "http://h/a")
        let secret = try request(["X-A": "1"], "http://me:secret@h/a")
        #expect(fields.asSeen(from: plain, sending: secret) == .everything)
        #expect(fields.asSeen(from: secret, sending: plain) == fields)
        #expect(fields.asSeen(from: secret, sending: secret) == fields)
    }

    @Test func `field lines with other bytes are different`() {
        #expect(HTTPFields.Field("A", "\u{E9}") != HTTPFields.Field("A", "e\u{301}"))
        #expect(HTTPFields.Field("A", "e") == HTTPFields.Field("A", "e"))
    }
}
