import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AuthenticatingTransportTests {
    private static let right = HTTPCredential.password(user: "alcedo", password: "fish")
    private static let wrong = HTTPCredential.password(user: "alcedo", password: "crab")
    private static let basic = "Basic YWxjZWRvOmZpc2g="

    /// An origin that wants these words in `Authorization`, and asks by this challenge.
    private func origin(wanting words: String, asking challenge: String) throws -> LoopbackOrigin {
        let refusal = OriginReply(
            status: 401, fields: ["WWW-Authenticate": challenge], body: Data("who?".utf8))
        return try LoopbackOrigin { request in
            request.fields["Authorization"]?.contains(words) == true ? .text("yours") : refusal
        }
    }

    private func send(
        _ url: URL, _ transport: some HTTPTransport, fields: HTTPFields = HTTPFields()
    ) async throws -> (status: Int, body: String) {
        let response = try await transport.send(HTTPRequest(url: url, fields: fields, idleTimeout: .seconds(120)))
        return (response.head.status, String(decoding: try await response.body.collect(limit: 1000), as: UTF8.self))
    }

    @Test func `a server that asks is answered, and not asked again`() async throws {
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=\"birds\"")
        defer { origin.stop() }
        let asked = Guarded<[AuthenticationChallenge]>([])
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { challenge in
            asked.change { $0.append(challenge) }
            return Self.right
        }
        for _ in 0..<3 {
            let answer = try await send(origin.url(for: "/a"), transport)
            #expect(answer == (200, "yours"))
        }
        #expect(origin.requests.count == 4)
        #expect(Set(origin.requests.map(\.connection)).count == 1)
        #expect(asked.value.count == 1)
        #expect(asked.value.first?.challenges.first?.realm == "birds")
        #expect(asked.value.first?.url == origin.url(for: "/a"))
    }

    @Test func `an error of the app's own is a download's, with its cause`() async throws {
        struct Locked: Error {}
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=x")
        defer { origin.stop() }
        let downloader = Downloader(
            transport: AuthenticatingTransport(wrapping: CURLTransport()) { _ in throw Locked() })

        let error = await #expect(throws: DownloadError.self) {
            try await downloader.download(
                DownloadRequest(.http(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))))
        }

        #expect(error?.code == .hook && error?.cause is Locked)
    }

    @Test func `a token is shown where tokens are taken`() async throws {
        let origin = try origin(wanting: "Bearer t0ken", asking: "Basic realm=x, Bearer realm=y")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(
            wrapping: CURLTransport(), credentials: [origin.url: .bearer("t0ken")])
        #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
    }

    @Test func `the strongest way is taken`() async throws {
        let challenge = """
            Basic realm=x, Digest realm=x, nonce=n1, qop="auth", Digest realm=x, nonce=n2, qop="auth", algorithm=SHA-256
            """
        let origin = try origin(wanting: "algorithm=SHA-256", asking: challenge)
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
    }

    @Test func `what is refused is asked for again, and then given up`() async throws {
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=x")
        defer { origin.stop() }
        let counts = Guarded<[Int]>([])
        let learning = AuthenticatingTransport(wrapping: CURLTransport()) { challenge in
            counts.change { $0.append(challenge.refusalCount) }
            return challenge.refusalCount == 0 ? Self.wrong : Self.right
        }
        #expect(try await send(origin.url(for: "/"), learning) == (200, "yours"))
        #expect(counts.value == [0, 1])

        let stubborn = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.wrong }
        #expect(try await send(origin.url(for: "/"), stubborn) == (401, "who?"))
        let declining = AuthenticatingTransport(wrapping: CURLTransport()) { _ in nil }
        #expect(try await send(origin.url(for: "/"), declining) == (401, "who?"))
        let endless = AuthenticatingTransport(wrapping: CURLTransport()) {
            .password(user: "alcedo", password: "\($0.refusalCount)")
        }
        let before = origin.requests.count
        #expect(try await send(origin.url(for: "/"), endless) == (401, "who?"))
        #expect(origin.requests.count - before == 8)
    }

    @Test func `a request that shows something of its own is left alone`() async throws {
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=x")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(origin.url(for: "/"), transport).status == 200)
        let answer = try await send(origin.url(for: "/"), transport, fields: ["Authorization": "Own thing"])
        #expect(answer.status == 401)
        #expect(origin.requests.last?.fields["Authorization"] == "Own thing")
    }

    @Test func `another origin is shown nothing`() async throws {
        let first = try origin(wanting: Self.basic, asking: "Basic realm=x")
        let other = try LoopbackOrigin { _ in .text("public") }
        defer {
            first.stop()
            other.stop()
        }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(first.url(for: "/"), transport).status == 200)
        #expect(try await send(other.url(for: "/"), transport).status == 200)
        #expect(other.requests.first?.fields["Authorization"] == nil)
    }

    @Test func `a credential is one server's, scheme and port included`() async throws {
        let transport = FakeTransport(body: Data(), status: 401, fields: ["WWW-Authenticate": "Basic realm=x"])
        let server = try #require(URL(string: "https://h/path"))
        let signing = AuthenticatingTransport(wrapping: transport, credentials: [server: Self.right])
        for text in ["http://h/", "http://h:443/", "https://h:444/", "https://h.other/"] {
            #expect(try await send(try #require(URL(string: text)), signing).status == 401)
        }
        #expect(transport.requests.count == 4)
        #expect(transport.requests.allSatisfy { $0.fields["Authorization"] == nil })
        _ = try await send(try #require(URL(string: "https://H:443/a")), signing)
        #expect(transport.requests.last?.fields["Authorization"] == Self.basic)
    }

    @Test func `a refusal's body that stalls is not waited for`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport { request in
            let isRefused = request.fields["Authorization"] == nil
            let fields: HTTPFields = isRefused ? ["WWW-Authenticate": "Basic realm=x"] : HTTPFields()
            let head = HTTPResponseHead(url: request.url, status: isRefused ? 401 : 200, fields: fields)
            return HTTPResponse(
                head: head,
                body: isRefused ? HTTPBody(HTTPBodyPipe(onSpace: {}, onCancel: {})) : HTTPBody(Data("yours".utf8)))
        }
        let signing = AuthenticatingTransport(wrapping: transport, clock: clock) { _ in Self.right }
        let url = try #require(URL(string: "https://h/"))
        let task = Task { try await send(url, signing).body }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        #expect(try await task.value == "yours")
    }

    @Test func `many that are refused at once share one challenge`() async throws {
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=x")
        defer { origin.stop() }
        let count = Guarded(0)
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            count.change { $0 += 1 }
            return Self.right
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<30 {
                group.addTask { try await send(origin.url(for: "/\(number)"), transport).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(count.value == 1)
    }

    @Test func `a nonce that has grown old is no refusal, and each use is counted`() async throws {
        // A nonce serves two requests.
        let origin = try LoopbackOrigin { request in
            let shown = request.fields["Authorization"] ?? ""
            let isGood = shown.contains("nonce=\"\((request.number - 1) / 3)\"")
            let fields: HTTPFields = [
                "WWW-Authenticate": "Digest realm=x, qop=\"auth\", nonce=\"\((request.number - 1) / 3)\""
            ]
            return isGood ? .text("yours") : OriginReply(status: 401, fields: fields)
        }
        defer { origin.stop() }
        let count = Guarded(0)
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            count.change { $0 += 1 }
            return Self.right
        }
        for _ in 0..<6 { #expect(try await send(origin.url(for: "/a?b=c"), transport) == (200, "yours")) }
        #expect(count.value == 1)
        let shown = origin.requests.compactMap { $0.fields["Authorization"] }
        #expect(shown.filter { $0.contains("nc=00000001") }.count == 3)
        #expect(shown.filter { $0.contains("nc=00000002") }.count == 3)
        #expect(shown.allSatisfy { $0.contains("uri=\"/a?b=c\"") })
    }

    @Test func `cancelling reaches a responder that thinks`() async throws {
        let origin = try origin(wanting: Self.basic, asking: "Basic realm=x")
        defer { origin.stop() }
        let clock = ManualClock()
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            try await clock.sleep(for: .seconds(3600))
            return nil
        }
        let task = Task { try await send(origin.url(for: "/"), transport).status }
        try await clock.waitForSleepers(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a name with a colon is not told by Basic`() async throws {
        let origin = try origin(wanting: "Basic", asking: "Basic realm=x")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            .password(user: "a:b", password: "c")
        }
        #expect(try await send(origin.url(for: "/"), transport).status == 401)
        #expect(origin.requests.count == 1)
    }
}
