import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import Testing

struct ChallengeTests {
    private func challenges(_ lines: String...) -> [HTTPChallenge] {
        HTTPChallenge.challenges(in: HTTPFields(lines.map { HTTPFields.Field("WWW-Authenticate", $0) }))
    }

    @Test func `several challenges in one line are told apart`() {
        let found = challenges(#"Newauth realm="apps", type=1, title="Login to \"apps\", now", Basic realm="simple""#)
        #expect(
            found == [
                HTTPChallenge(
                    scheme: "newauth",
                    parameters: ["realm": "apps", "type": "1", "title": #"Login to "apps", now"#]),
                HTTPChallenge(scheme: "basic", parameters: ["realm": "simple"]),
            ])
    }

    @Test func `lines and cases do not matter`() {
        #expect(
            challenges("DIGEST Realm=a , NONCE = \"b\"", "bearer") == [
                HTTPChallenge(scheme: "digest", parameters: ["realm": "a", "nonce": "b"]),
                HTTPChallenge(scheme: "bearer"),
            ])
    }

    @Test func `a lump in place of parameters is left out`() {
        #expect(
            challenges("Negotiate YII+/abc==, Basic realm=x") == [
                HTTPChallenge(scheme: "negotiate"), HTTPChallenge(scheme: "basic", parameters: ["realm": "x"]),
            ])
    }

    @Test(arguments: ["", ",,", "=", "\"", "realm=x", "Basic realm=\"open", "Basic realm=", "\u{E9}"])
    func `what cannot be read does no harm`(line: String) {
        #expect(challenges(line).allSatisfy { $0.scheme == "basic" && $0.parameters.isEmpty })
        #expect(challenges(line, "Bearer").last == HTTPChallenge(scheme: "bearer"))
    }
}
