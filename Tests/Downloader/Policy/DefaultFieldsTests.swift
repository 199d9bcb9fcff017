import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// The default fields of requests.
@Suite(.timeLimit(.minutes(10)))
struct DefaultFieldsTests {
    private static let agent = "Alcedo/\(AlcedoVersion.text)"
    private static let accept = "image/*;q=0.8,*/*;q=0.5"

    /// Downloads from a transport that sends one byte. Returns the request as the transport received it.
    private func sent(
        _ fields: HTTPFields = HTTPFields(), idleTimeout: Duration = .zero,
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) async throws -> HTTPRequest {
        let transport = FakeTransport(body: Data("x".utf8))
        var configuration = DownloaderConfiguration()
        change(&configuration)
        let downloader = Downloader(transport: transport, configuration: configuration)
        let url = try #require(URL(string: "http://h/a"))
        let request = HTTPRequest(url: url, fields: fields, idleTimeout: idleTimeout)
        _ = try await downloader.download(.http(request))
        let sent = try #require(transport.requests.first)
        if configuration.modifyRequest == nil { #expect(downloader.addingDefaultFields(to: request) == sent) }
        return sent
    }

    @Test func `a request identifies the program and accepts images`() async throws {
        #expect(try await sent().fields == ["User-Agent": Self.agent, "Accept": Self.accept])
    }

    @Test func `fields of the request replace the default ones regardless of case`() async throws {
        let fields = try await sent(["accept": "image/png", "USER-AGENT": "mine"]).fields

        #expect(fields == ["accept": "image/png", "USER-AGENT": "mine"])
    }

    @Test func `the configuration replaces the default fields, or removes them`() async throws {
        let fields = try await sent { $0.defaultFields = ["User-Agent": "app", "X-A": "1"] }.fields
        #expect(fields == ["User-Agent": "app", "X-A": "1"])

        #expect(try await sent { $0.defaultFields = HTTPFields() }.fields == HTTPFields())
    }

    @Test func `a request modifier receives no default fields, and its own fields replace them`() async throws {
        let seen = Watched<[HTTPFields]>([])

        let sent = try await sent {
            $0.modifyRequest = { request in
                seen.update { $0.append(request.fields) }
                var request = request
                request.fields["User-Agent"] = "hook"
                return request
            }
        }

        #expect(seen.value == [HTTPFields()])
        #expect(sent.fields == ["User-Agent": "hook", "Accept": Self.accept])
    }

    @Test func `redirects, retries and resumed transfers carry the same fields`() async throws {
        let whole = sample(4_000)
        let strong: HTTPFields = ["Content-Length": "4000", "ETag": "\"a\""]
        let part: HTTPFields = ["Content-Range": "bytes 2000-3999/4000", "Content-Length": "2000", "ETag": "\"a\""]
        let script = Script([
            .head(302, ["Location": "http://other/b"]), .failure(.connectionLost),
            .head(200, strong, whole.prefix(2_000), failing: .connectionLost), .head(206, part, whole.suffix(2_000)),
        ])

        let download = try await HTTPFetcher.make(script) { $0.retries(5) }.fetch("http://h/a")

        #expect(download.data == whole)
        let requests = script.requests.value
        #expect(requests.count == 4)
        #expect(requests.last?.fields["Range"] == "bytes=2000-")
        for request in requests {
            #expect(request.fields.values(of: "User-Agent") == [Self.agent])
            #expect(request.fields.values(of: "Accept") == [Self.accept])
        }
    }

    @Test func `a cached failure is removed by its URL, although requests carry default fields`() async throws {
        let transport = FakeTransport(body: Data(), status: 404)
        let failed = FailureCache()
        var configuration = DownloaderConfiguration()
        configuration.failureCache = failed
        let downloader = Downloader(transport: transport, configuration: configuration)
        let url = try #require(URL(string: "http://h/a"))
        for _ in 0..<2 { _ = try await failure { try await downloader.download(.http(HTTPRequest(url: url))) } }
        #expect(transport.requests.count == 1)

        failed.remove(HTTPRequest(url: url))
        _ = try await failure { try await downloader.download(.http(HTTPRequest(url: url))) }

        #expect(transport.requests.count == 2)
    }

    @Test func `a cached failure is for requests with equal default fields`() async throws {
        let transport = FakeTransport(body: Data(), status: 403)
        let failed = FailureCache()
        for token in ["alice", "bob", "bob"] {
            var configuration = DownloaderConfiguration()
            configuration.failureCache = failed
            configuration.defaultFields["X-Auth-Token"] = token
            let downloader = Downloader(transport: transport, configuration: configuration)
            let url = try #require(URL(string: "http://h/a"))
            _ = try await failure { try await downloader.download(.http(HTTPRequest(url: url))) }
        }
        #expect(transport.requests.map { $0.fields["X-Auth-Token"] } == ["alice", "bob"])
    }

    // MARK: Timeouts

    @Test func `a request without an idle timeout uses that of the configuration`() async throws {
        #expect(try await sent { $0.idleTimeout = .seconds(60) }.idleTimeout == .seconds(60))
        #expect(try await sent(idleTimeout: .seconds(5)) { $0.idleTimeout = .seconds(60) }.idleTimeout == .seconds(5))
        #expect(try await sent().idleTimeout == .seconds(15))
    }

    @Test func `timeouts of zero in the configuration select the defaults`() async throws {
        let sent = try await sent {
            ($0.idleTimeout, $0.firstByteTimeout, $0.totalTimeout) = (.zero, .zero, .zero)
        }

        #expect(sent.idleTimeout == .seconds(15))
    }
}
