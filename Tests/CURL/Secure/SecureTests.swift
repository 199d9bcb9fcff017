import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

/// The servers that a transport trusts.
@Suite(
    .spawnsProcesses, .timeLimit(.minutes(10)),
    .enabled(if: SecureServer.isInstalled, "nginx and openssl are not installed"))
struct SecureTests {
    private func send(_ url: URL, _ options: CURLOptions) async throws -> HTTPResponse {
        let response = try await CURLTransport(options: options).send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 1 << 20)
        return response
    }

    private func expectRejection(
        _ url: URL, _ options: CURLOptions, saying words: String = "",
        at location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: HTTPTransportError.self, sourceLocation: location) {
            try await send(url, options)
        }
        #expect(error?.code == .secureConnectionFailed, sourceLocation: location)
        #expect(
            words.isEmpty || error?.message.contains(words) == true, "\(error?.message ?? "nothing")",
            sourceLocation: location)
    }

    @Test func `a custom authority is trusted, from a file and from bytes`() async throws {
        let server = try await SecureServer()
        var options = server.options
        #expect(try await send(server.url("/small"), options).head.status == 200)
        options.authorities = .file(server.authorityFile)
        #expect(try await send(server.url("/small"), options).head.status == 200)
    }

    @Test func `an authority unknown to the system is not trusted`() async throws {
        let server = try await SecureServer()
        await expectRejection(try server.url("/small"), CURLOptions(), saying: "certificate")
    }

    @Test func `a certificate for another name or out of date is refused with the reason`() async throws {
        let server = try await SecureServer()
        await expectRejection(try server.url("/small", host: "wrong.localhost"), server.options, saying: "name")
        await expectRejection(try server.url("/small", host: "expired.localhost"), server.options, saying: "expired")
    }

    @Test func `unreadable authorities trust no server`() async throws {
        let server = try await SecureServer()
        var options = CURLOptions()
        for data in [Data(), Data("no certificate".utf8)] {
            options.authorities = .pem(data)
            await expectRejection(try server.url("/small"), options, saying: "certificate")
        }
        options.authorities = .file(server.authorityFile.appending(path: "missing"))
        await expectRejection(try server.url("/small"), options)
    }

    @Test func `a pinned key is required of its host and no other`() async throws {
        let server = try await SecureServer()
        let right = try #require(PublicKeyPin(server.pin))
        let wrong = try #require(PublicKeyPin("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
        var options = server.options

        options.pinnedKeys = ["localhost": [wrong, right]]
        #expect(try await send(server.url("/small"), options).head.status == 200)

        options.pinnedKeys = ["localhost": [wrong]]
        await expectRejection(try server.url("/small"), options, saying: "pinned")
        // Other forms of the name do not bypass the pin.
        for host in ["LocalHost", "loc%61lhost"] {
            await expectRejection(try server.url("/small", host: host), options, saying: "pinned")
        }
        #expect(try await send(server.url("/small", host: "also.localhost"), options).head.status == 200)
    }

    @Test(arguments: ["LocalHost", "localhost.", "LOCALHOST."])
    func `a pin applies to its host however the name is written`(name: String) async throws {
        let server = try await SecureServer()
        let right = try #require(PublicKeyPin(server.pin))
        let wrong = try #require(PublicKeyPin("sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
        var options = server.options

        options.pinnedKeys[name] = [wrong]
        #expect(options.pinnedKeys == ["localhost": [wrong]])
        await expectRejection(try server.url("/small"), options, saying: "pinned")

        options.pinnedKeys[name] = [right]
        #expect(options.pinnedKeys == ["localhost": [wrong, right]])
        #expect(try await send(server.url("/small"), options).head.status == 200)
    }

    @Test func `a host is trusted however its name is written`() async throws {
        let server = try await SecureServer()
        var options = CURLOptions()
        options.trustedHosts = ["LocalHost."]

        #expect(options.trustedHosts == ["localhost"])
        #expect(try await send(server.url("/small"), options).head.status == 200)
    }

    @Test func `a pin suffices for a trusted host and is required, too`() async throws {
        let server = try await SecureServer()
        var options = CURLOptions()
        options.trustedHosts = ["localhost", "expired.localhost", "wrong.localhost"]
        for host in ["localhost", "expired.localhost", "wrong.localhost"] {
            #expect(try await send(server.url("/small", host: host), options).head.status == 200)
        }
        await expectRejection(try server.url("/small", host: "also.localhost"), options, saying: "certificate")

        options.pinnedKeys = [
            "expired.localhost": [try #require(PublicKeyPin(server.pin))],
            "localhost": [try #require(PublicKeyPin(server.pin))],
        ]
        await expectRejection(try server.url("/small", host: "expired.localhost"), options, saying: "pinned")
        #expect(try await send(server.url("/small"), options).head.status == 200)
    }

    @Test func `a connection trusted for one host is not used for another`() async throws {
        let server = try await SecureServer()
        var options = CURLOptions()
        options.trustedHosts = ["localhost"]
        let transport = CURLTransport(options: options)
        let response = try await transport.send(HTTPRequest(url: server.url("/small"), idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 1 << 20)
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(
                HTTPRequest(url: server.url("/small", host: "127.0.0.1"), idleTimeout: .seconds(120)))
        }
        #expect(error?.code == .secureConnectionFailed)
    }

    @Test(arguments: ["", "sha256//", "sha256//AAAA", "/etc/passwd", "sha256//****", "md5//AAAA"])
    func `an invalid hash is not a pin`(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }
}
