import AlcedoCore
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// Transfers that resume behind redirects, with signed URLs, and behind a response cache.
@Suite(.timeLimit(.minutes(10)))
struct ElsewhereTests {
    private static let body = sample(10_000)
    private static let other = sample(10_000, seed: 2)

    private let requests = Watched<[String]>([])

    private func response(
        _ request: HTTPRequest, _ status: Int, _ fields: HTTPFields, _ body: Data = Data(), isBroken: Bool = false
    ) -> HTTPResponse {
        let end = isBroken ? HTTPTransportError(.connectionLost, "it broke") : nil
        return HTTPResponse(
            head: HTTPResponseHead(url: request.url, status: status, fields: fields),
            body: HTTPBody(ScriptedBody(body.isEmpty ? [] : [Data(body)], end: end)))
    }

    /// A server of contents with the tag "a" and one length that redirects `/a` to `target` and sends only 4,000 bytes
    /// at first. Every If-Range condition holds.
    private func server(
        _ contents: [String: Data], target: @escaping @Sendable (_ time: Int) -> String = { _ in "" }
    ) -> FakeTransport {
        let times = Watched(0)
        let isFirst = Watched(true)
        return FakeTransport { [requests] request in
            let url = request.url.absoluteString
            requests.update { $0.append("\(url) \(request.fields["Range"] ?? "whole")") }
            guard let body = contents[url] else {
                let time = times.update { times -> Int in
                    times += 1
                    return times
                }
                return response(request, 302, ["Location": target(time)])
            }
            if let range = request.fields["Range"], let start = Int(range.filter(\.isNumber)) {
                return response(
                    request, 206, ["ETag": "\"a\"", "Content-Range": "bytes \(start)-9999/10000"],
                    body.dropFirst(start))
            }
            let isBroken = isFirst.update { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return response(
                request, 200, ["ETag": "\"a\"", "Content-Length": "10000"], isBroken ? body.prefix(4_000) : body,
                isBroken: isBroken)
        }
    }

    private func fetch(
        _ transport: any HTTPTransport, _ url: String, storage: DataMemoryCache? = nil, attempts: Int = 3
    ) async throws -> Data {
        let fetcher = HTTPFetcher.make(transport, clock: ManualClock(now: Date())) { configuration in
            configuration.retries(attempts)
            configuration.resume = ResumePolicy(storage: storage)
            configuration.resume?.minimumByteCount = 1
        }
        return try await fetcher.fetch(url).data
    }

    @Test func `a transfer redirected to the same URL resumes`() async throws {
        let server = server(["http://cdn/x": Self.body]) { _ in "http://cdn/x" }
        #expect(try await fetch(server, "http://h/a") == Self.body)
        #expect(
            requests.value == [
                "http://h/a whole", "http://cdn/x whole", "http://h/a bytes=4000-", "http://cdn/x bytes=4000-",
            ])
    }

    @Test(arguments: ["http://cdn/x?sign=2", "http://cdn2/x?sign=1", "http://cdn/y"])
    func `a transfer redirected to another URL restarts, although tag and length are equal`(
        next: String
    ) async throws {
        let server = server(["http://cdn/x?sign=1": Self.body, next: Self.other]) { time in
            time == 1 ? "http://cdn/x?sign=1" : next
        }
        #expect(try await fetch(server, "http://h/a") == Self.other)
        #expect(
            requests.value.suffix(4) == [
                "http://h/a bytes=4000-", "\(next) bytes=4000-", "http://h/a whole", "\(next) whole",
            ])
    }

    @Test func `bytes kept from one signed URL are not used for another`() async throws {
        let storage = DataMemoryCache(sizeLimit: 1 << 20)
        let server = server(["http://h/a?sign=1": Self.body, "http://h/a?sign=2": Self.other])
        _ = try await failure { try await fetch(server, "http://h/a?sign=1", storage: storage, attempts: 1) }
        #expect(try await fetch(server, "http://h/a?sign=2", storage: storage, attempts: 1) == Self.other)
        #expect(try await fetch(server, "http://h/a?sign=1", storage: storage, attempts: 1) == Self.body)
        #expect(
            requests.value == ["http://h/a?sign=1 whole", "http://h/a?sign=2 whole", "http://h/a?sign=1 bytes=4000-"])
    }

    @Test func `a transfer restarts when the redirect has changed since the part was kept`() async throws {
        let storage = DataMemoryCache(sizeLimit: 1 << 20)
        let server = server(["http://cdn/x": Self.body, "http://cdn/y": Self.other]) { time in
            time == 1 ? "http://cdn/x" : "http://cdn/y"
        }
        _ = try await failure { try await fetch(server, "http://h/a", storage: storage, attempts: 1) }
        #expect(try await fetch(server, "http://h/a", storage: storage, attempts: 1) == Self.other)
    }

    // MARK: Behind a response cache

    private func cached(_ transport: any HTTPTransport, clock: any TimeSource = ManualClock(now: Date()))
        -> CachingTransport
    {
        CachingTransport(wrapping: transport, store: MemoryResponseStore(), clock: clock)
    }

    @Test func `behind a response cache a transfer resumes, and the server sends each byte once`() async throws {
        let sent = Watched(0)
        let server = server(["http://h/a": Self.body])
        let counting = FakeTransport { request in
            let response = try await server.send(request)
            if request.fields["Range"] != nil { sent.update { $0 += response.head.declaredBodyLength ?? 6_000 } }
            return response
        }
        #expect(try await fetch(cached(counting), "http://h/a") == Self.body)
        #expect(requests.value.first == "http://h/a whole")
        #expect(requests.value.dropFirst() == ["http://h/a bytes=4000-"])
        #expect(sent.value == 6_000)
    }

    @Test func `behind a response cache, changed content is never appended to the old`() async throws {
        let attempt = Watched(0)
        let transport = FakeTransport { request in
            let number = attempt.update { attempt -> Int in
                attempt += 1
                return attempt
            }
            guard number > 1 else {
                return response(
                    request, 200, ["ETag": "\"a\"", "Content-Length": "10000"], Self.body.prefix(4_000), isBroken: true)
            }
            // The condition does not hold, so the whole is sent.
            #expect(request.fields["If-Range"] == "\"a\"")
            return response(request, 200, ["ETag": "\"b\"", "Content-Length": "10000"], Self.other)
        }
        let cache = cached(transport)
        #expect(try await fetch(cache, "http://h/a") == Self.other)
    }

    @Test func `behind a response cache, parts shorter than declared do not loop forever`() async throws {
        let ranges = Watched<[String?]>([])
        let transport = FakeTransport { request in
            let range = request.fields["Range"]
            let isFirst = ranges.update { ranges -> Bool in
                ranges.append(range)
                return ranges.count == 1
            }
            guard let range, let offset = Int(range.dropFirst("bytes=".count).dropLast()) else {
                let fields: HTTPFields = ["ETag": "\"a\"", "Content-Length": "10000"]
                return response(
                    request, 200, fields, isFirst ? Self.body.prefix(4_000) : Self.body, isBroken: isFirst)
            }
            let fields: HTTPFields = [
                "ETag": "\"a\"", "Content-Range": "bytes \(offset)-9999/10000", "Content-Length": "10",
            ]
            return response(request, 206, fields, Self.body[offset..<offset + 10])
        }
        let cache = cached(transport)
        #expect(try await fetch(cache, "http://h/a", attempts: 4) == Self.body)
        #expect(ranges.value.last == .some(nil))
    }

    @Test func `bytes of a fresh cached response are not requested again`() async throws {
        let count = Watched(0)
        let transport = FakeTransport { request in
            count.update { $0 += 1 }
            return response(request, 200, ["ETag": "\"a\"", "Cache-Control": "max-age=60"], Self.body)
        }
        let cache = cached(transport)
        #expect(try await fetch(cache, "http://h/a") == Self.body)
        // A part of the same content that was kept before continues in the cache.
        let storage = DataMemoryCache(sizeLimit: 1 << 20)
        let broken = Script([
            .head(200, ["ETag": "\"a\"", "Content-Length": "10000"], Self.body.prefix(4_000), failing: .connectionLost)
        ])
        _ = try await failure { try await fetch(broken, "http://h/a", storage: storage, attempts: 1) }
        #expect(try await fetch(cache, "http://h/a", storage: storage, attempts: 1) == Self.body)
        #expect(count.value == 1)
    }
}
