import Testing

@testable import AlcedoDownloader

struct DigestTests {
    private static let parameters = [
        "realm": "http-auth@example.org", "qop": "auth, auth-int",
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
    ]

    private func field(_ parameters: [String: String], user: String = "Mufasa") -> String? {
        DigestResponse(AuthenticationChallenge.Scheme(name: "digest", parameters: parameters))?.field(
            user: user, password: "Circle of Life", method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `responses match the examples of RFC 7616`(algorithm: String, response: String) throws {
        let parameters = Self.parameters.merging(["algorithm": algorithm]) { $1 }
        let shown = try #require(field(parameters))
        #expect(
            shown == """
                Digest username="Mufasa", realm="http-auth@example.org", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", \
                response="\(response)", algorithm=\(algorithm), qop=auth, nc=00000001, \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", \
                opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """)
    }

    @Test func `a challenge without qop has a response without a count`() throws {
        let shown = try #require(field(["realm": "r", "nonce": "n"]))
        #expect(["nc=", "qop", "algorithm"].allSatisfy { !shown.contains($0) })
    }

    @Test func `user names with quotes and non-ASCII characters are encoded as the standard requires`() throws {
        #expect(try #require(field(Self.parameters, user: "a\"b\\c")).contains(#"username="a\"b\\c","#))
        #expect(
            try #require(field(Self.parameters, user: "Jäs \u{F8}n")).contains("username*=UTF-8''J%C3%A4s%20%C3%B8n,"))
        let hashed = Self.parameters.merging(["userhash": "true"]) { $1 }
        #expect(try #require(field(hashed)).contains("userhash=true"))
        #expect(try #require(field(hashed)).contains("Mufasa") == false)
    }

    @Test(arguments: [
        ["algorithm": "SHA-512-256"], ["qop": "auth-int"], ["algorithm": "MD5-sess", "qop": ""],
    ])
    func `an unknown algorithm has no response`(parameters: [String: String]) {
        #expect(field(Self.parameters.merging(parameters) { $1 }) == nil)
    }

    @Test func `a session's response depends on the client's nonce`() throws {
        let parameters = Self.parameters.merging(["algorithm": "MD5-sess"]) { $1 }
        let plain = Self.parameters.merging(["algorithm": "MD5"]) { $1 }
        #expect(try #require(field(parameters)).contains("response=\"e783283f46242139c486a698fec7211d\""))
        #expect(try #require(field(plain)).contains("response=\"e783283f46242139c486a698fec7211d\"") == false)
    }
}
