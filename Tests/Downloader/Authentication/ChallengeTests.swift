import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import Testing

struct ChallengeTests {
    private func schemes(_ lines: String...) -> [AuthenticationChallenge.Scheme] {
        AuthenticationChallenge.Scheme.all(in: HTTPFields(lines.map { HTTPFields.Field("WWW-Authenticate", $0) }))
    }

    @Test func `several challenges in one line are separated`() {
        let found = schemes(#"Newauth realm="apps", type=1, title="Login to \"apps\", now", Basic realm="simple""#)
        #expect(
            found == [
                AuthenticationChallenge.Scheme(
                    name: "newauth",
                    parameters: ["realm": "apps", "type": "1", "title": #"Login to "apps", now"#]),
                AuthenticationChallenge.Scheme(name: "basic", parameters: ["realm": "simple"]),
            ])
    }

    @Test func `line breaks and case do not matter`() {
        #expect(
            schemes("DIGEST Realm=a , NONCE = \"b\"", "bearer") == [
                AuthenticationChallenge.Scheme(name: "digest", parameters: ["realm": "a", "nonce": "b"]),
                AuthenticationChallenge.Scheme(name: "bearer"),
            ])
    }

    @Test func `a challenge with token68 data is skipped`() {
        #expect(
            schemes("Negotiate YII+/abc==, Basic realm=x") == [
                AuthenticationChallenge.Scheme(name: "negotiate"),
                AuthenticationChallenge.Scheme(name: "basic", parameters: ["realm": "x"]),
            ])
    }

    @Test(arguments: ["", ",,", "=", "\"", "realm=x", "Basic realm=\"open", "Basic realm=", "\u{E9}"])
    func `an invalid challenge is ignored`(line: String) {
        #expect(schemes(line).allSatisfy { $0.name == "basic" && $0.parameters.isEmpty })
        #expect(schemes(line, "Bearer").last == AuthenticationChallenge.Scheme(name: "bearer"))
    }
}
