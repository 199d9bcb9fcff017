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

    /// An origin that accepts this `Authorization` and otherwise sends this challenge.
    private func origin(accepting credential: String, challenge: String) throws -> LoopbackOrigin {
        let rejection = OriginReply(
            status: 401, fields: ["WWW-Authenticate": challenge], body: Data("who?".utf8))
        return try LoopbackOrigin { request in
            request.fields["Authorization"]?.contains(credential) == true ? .text("yours") : rejection
        }
    }

    private func send(
        _ url: URL, _ transport: some HTTPTransport, fields: HTTPFields = HTTPFields()
    ) async throws -> (status: Int, body: String) {
        let response = try await transport.send(HTTPRequest(url: url, fields: fields, idleTimeout: .seconds(120)))
        return (response.head.status, String(decoding: try await response.body.collect(limit: 1000), as: UTF8.self))
    }

    @Test func `a server that sends a challenge receives a credential and sends no further challenge`() async throws {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=\"birds\"")
        defer { origin.stop() }
        let challenges = Watched<[AuthenticationChallenge]>([])
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { challenge in
            challenges.update { $0.append(challenge) }
            return Self.right
        }
        for _ in 0..<3 {
            let response = try await send(origin.url(for: "/a"), transport)
            #expect(response == (200, "yours"))
        }
        #expect(origin.requests.count == 4)
        #expect(Set(origin.requests.map(\.connection)).count == 1)
        #expect(challenges.value.count == 1)
        #expect(challenges.value.first?.schemes.first?.realm == "birds")
        #expect(challenges.value.first?.url == origin.url(for: "/a"))
    }

    @Test func `an error of the app's responder is the cause of the download's error`() async throws {
        struct Locked: Error {}
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
        defer { origin.stop() }
        let downloader = Downloader(
            transport: AuthenticatingTransport(wrapping: CURLTransport()) { _ in throw Locked() })

        let error = await #expect(throws: DownloadError.self) {
            try await downloader.download(
                DownloadRequest(.http(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))))
        }

        #expect(error?.code == .hook)
        #expect(error?.cause is Locked)
    }

    @Test func `a token is sent for a Bearer challenge`() async throws {
        let origin = try origin(accepting: "Bearer t0ken", challenge: "Basic realm=x, Bearer realm=y")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(
            wrapping: CURLTransport(), credentials: [origin.url: .bearer("t0ken")])
        #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
    }

    @Test func `the strongest scheme is chosen`() async throws {
        let challenge = """
            Basic realm=x, Digest realm=x, nonce=n1, qop="auth", Digest realm=x, nonce=n2, qop="auth", algorithm=SHA-256
            """
        let origin = try origin(accepting: "algorithm=SHA-256", challenge: challenge)
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
    }

    @Test func `the first of equally strong schemes is chosen`() async throws {
        let challenge = #"Digest realm=x, nonce=n1, qop="auth", Digest realm=y, nonce=n2, qop="auth""#
        let origin = try origin(accepting: "nonce=\"n1\"", challenge: challenge)
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
    }

    @Test func `a rejected request is sent again and fails after a second rejection`() async throws {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
        defer { origin.stop() }
        let counts = Watched<[Int]>([])
        let learning = AuthenticatingTransport(wrapping: CURLTransport()) { challenge in
            counts.update { $0.append(challenge.previousFailureCount) }
            return challenge.previousFailureCount == 0 ? Self.wrong : Self.right
        }
        #expect(try await send(origin.url(for: "/"), learning) == (200, "yours"))
        #expect(counts.value == [0, 1])

        let stubborn = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.wrong }
        #expect(try await send(origin.url(for: "/"), stubborn) == (401, "who?"))
        let declining = AuthenticatingTransport(wrapping: CURLTransport()) { _ in nil }
        #expect(try await send(origin.url(for: "/"), declining) == (401, "who?"))
        let endless = AuthenticatingTransport(wrapping: CURLTransport()) {
            .password(user: "alcedo", password: "\($0.previousFailureCount)")
        }
        let before = origin.requests.count
        #expect(try await send(origin.url(for: "/"), endless) == (401, "who?"))
        #expect(origin.requests.count - before == 8)
    }

    @Test func `a request with its own Authorization is not changed`() async throws {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in Self.right }
        #expect(try await send(origin.url(for: "/"), transport).status == 200)
        let response = try await send(origin.url(for: "/"), transport, fields: ["Authorization": "Own thing"])
        #expect(response.status == 401)
        #expect(origin.requests.last?.fields["Authorization"] == "Own thing")
    }

    @Test func `another origin receives no credential`() async throws {
        let first = try origin(accepting: Self.basic, challenge: "Basic realm=x")
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

    @Test func `a credential belongs to one origin, including scheme and port`() async throws {
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

    @Test func `a stalled body of a 401 is not awaited`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport { request in
            let isRejected = request.fields["Authorization"] == nil
            let fields: HTTPFields = isRejected ? ["WWW-Authenticate": "Basic realm=x"] : HTTPFields()
            let head = HTTPResponseHead(url: request.url, status: isRejected ? 401 : 200, fields: fields)
            return HTTPResponse(
                head: head,
                body: isRejected ? HTTPBody(HTTPBodyPipe(onSpace: {}, onCancel: {})) : HTTPBody(Data("yours".utf8)))
        }
        let signing = AuthenticatingTransport(wrapping: transport, clock: clock) { _ in Self.right }
        let url = try #require(URL(string: "https://h/"))
        let task = Task { try await send(url, signing).body }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        #expect(try await task.value == "yours")
    }

    @Test func `concurrently rejected requests share one challenge`() async throws {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
        defer { origin.stop() }
        let count = Watched(0)
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            count.update { $0 += 1 }
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

    @Test func `a stale nonce is not a rejection, and each use is counted`() async throws {
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
        let count = Watched(0)
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            count.update { $0 += 1 }
            return Self.right
        }
        for _ in 0..<6 { #expect(try await send(origin.url(for: "/a?b=c"), transport) == (200, "yours")) }
        #expect(count.value == 1)
        let shown = origin.requests.compactMap { $0.fields["Authorization"] }
        #expect(shown.filter { $0.contains("nc=00000001") }.count == 3)
        #expect(shown.filter { $0.contains("nc=00000002") }.count == 3)
        #expect(shown.allSatisfy { $0.contains("uri=\"/a?b=c\"") })
    }

    @Test func `requests rejected with one nonce share its count`() async throws {
        let transport = FakeTransport { request in
            let isSigned = request.fields["Authorization"] != nil
            let fields: HTTPFields =
                isSigned ? HTTPFields() : ["WWW-Authenticate": "Digest realm=x, qop=\"auth\", nonce=n"]
            let head = HTTPResponseHead(url: request.url, status: isSigned ? 200 : 401, fields: fields)
            return HTTPResponse(head: head, body: HTTPBody(Data("yours".utf8)))
        }
        let clock = ManualClock()
        let signing = AuthenticatingTransport(wrapping: transport) { _ in
            try await clock.sleep(for: .seconds(1))
            return Self.right
        }
        let url = try #require(URL(string: "https://h/"))
        let tasks = (0..<3).map { _ in Task { try await send(url, signing).status } }
        try await eventually { transport.requests.count == 3 }
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value == 200) }
        #expect(try await send(url, signing).status == 200)

        let sent = transport.requests.compactMap { $0.fields["Authorization"] }
        #expect(sent.count == 4)
        for number in 1...4 { #expect(sent.count { $0.contains("nc=0000000\(number)") } == 1) }
    }

    @Test func `each realm of an origin has its own credential`() async throws {
        let transport = FakeTransport { request in
            let realm = request.url.lastPathComponent
            let credential = "Basic \(Data("alcedo:\(realm)".utf8).base64EncodedString())"
            let isAccepted = request.fields["Authorization"] == credential
            let fields: HTTPFields = isAccepted ? HTTPFields() : ["WWW-Authenticate": "Basic realm=\(realm)"]
            let head = HTTPResponseHead(url: request.url, status: isAccepted ? 200 : 401, fields: fields)
            return HTTPResponse(head: head, body: HTTPBody(Data("yours".utf8)))
        }
        let challenges = Watched<[AuthenticationChallenge]>([])
        let signing = AuthenticatingTransport(wrapping: transport) { challenge in
            challenges.update { $0.append(challenge) }
            return .password(user: "alcedo", password: challenge.schemes.first?.realm ?? "")
        }

        for path in ["one", "two", "one", "two", "two"] {
            #expect(try await send(try #require(URL(string: "https://h/\(path)")), signing).status == 200)
        }

        #expect(challenges.value.map { $0.schemes.map(\.realm) } == [["one"], ["two"]])
        #expect(challenges.value.allSatisfy { $0.previousFailureCount == 0 })
    }

    @Test func `the responder is called for an unknown server and after a rejection`()
        async throws
    {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
        defer { origin.stop() }
        let counts = Watched<[Int]>([])
        let known: [[URL: HTTPCredential]] = [[:], [origin.url: Self.wrong], [origin.url: Self.right]]
        for credentials in known {
            let transport = AuthenticatingTransport(wrapping: CURLTransport(), credentials: credentials) { challenge in
                counts.update { $0.append(challenge.previousFailureCount) }
                return Self.right
            }
            #expect(try await send(origin.url(for: "/"), transport) == (200, "yours"))
        }
        #expect(counts.value == [0, 1])
    }

    @Test func `canceling ends a pending responder`() async throws {
        let origin = try origin(accepting: Self.basic, challenge: "Basic realm=x")
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

    @Test func `Basic does not send a user name with a colon`() async throws {
        let origin = try origin(accepting: "Basic", challenge: "Basic realm=x")
        defer { origin.stop() }
        let transport = AuthenticatingTransport(wrapping: CURLTransport()) { _ in
            .password(user: "a:b", password: "c")
        }
        #expect(try await send(origin.url(for: "/"), transport).status == 401)
        #expect(origin.requests.count == 1)
    }
}
