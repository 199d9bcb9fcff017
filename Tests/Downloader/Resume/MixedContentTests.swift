import AlcedoCore
import AlcedoHTTP
import AlcedoMemoryCache
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct MixedContentTests {
    /// A server with changing content and breaking connections that responds to ranges in every way. Its declared
    /// lengths and ranges are true.
    private struct Moody: HTTPTransport {
        let contents: [Data]
        let generator: Watched<SeededGenerator>
        let version = Watched(0)
        let ranges = Watched(0)

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            if roll(4) == 0 { version.update { $0 = ($0 + 1) % 3 } }
            let number = version.value
            let (body, tag) = (contents[number], "\"\(number)\"")
            if roll(8) == 0 { return response(request, 503, [:], Data()) }
            let offset = request.fields["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            guard let offset else { return response(request, 200, whole(tag, body), body) }
            ranges.update { $0 += 1 }
            switch roll(5) {
            case 0: return response(request, 416, ["Content-Range": "bytes */\(body.count)"], Data())
            case 1: return response(request, 200, whole(tag, body), body)
            case 2:
                // A range other than the requested one, whatever the condition.
                let start = roll(body.count)
                return response(request, 206, part(tag, start, body.count), body.dropFirst(start))
            default:
                guard offset < body.count, request.fields["If-Range"] == tag || roll(2) == 0 else {
                    return response(request, 200, whole(tag, body), body)
                }
                return response(request, 206, part(tag, offset, body.count), body.dropFirst(offset))
            }
        }

        private func roll(_ count: Int) -> Int { generator.update { Int.random(in: 0..<count, using: &$0) } }

        private func whole(_ tag: String, _ body: Data) -> HTTPFields {
            var fields: HTTPFields = ["ETag": tag]
            if roll(3) > 0 { fields["Content-Length"] = "\(body.count)" }
            fields["Cache-Control"] = [nil, "no-cache", "max-age=60"][roll(3)]
            return fields
        }

        private func part(_ tag: String, _ start: Int, _ total: Int) -> HTTPFields {
            ["ETag": tag, "Content-Range": "bytes \(start)-\(total - 1)/\(total)"]
        }

        private func response(
            _ request: HTTPRequest, _ status: Int, _ fields: HTTPFields, _ slice: Data
        ) -> HTTPResponse {
            let body = Data(slice)
            let isBroken = roll(3) > 0
            let sent = isBroken ? body.prefix(roll(body.count + 1)) : body
            let pieces = sent.isEmpty ? [] : [Data(sent.prefix(700)), Data(sent.dropFirst(700))].filter { !$0.isEmpty }
            let end = isBroken ? HTTPTransportError(.connectionLost, "it broke") : nil
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(ScriptedBody(pieces, end: end)))
        }
    }

    /// - Parameter isCached: Whether there is a response cache, which keeps parts and requests the rest itself.
    @Test(arguments: [false, true])
    func `a download never mixes two contents, whatever the server does`(isCached: Bool) async throws {
        // Of equal length, so that the length does not distinguish them.
        let contents = [sample(3_000, seed: 1), sample(3_000, seed: 2), sample(2_000, seed: 3)]
        var (rangeCount, doneCount) = (0, 0)
        for seed in 0..<300 as Range<UInt64> {
            let storage = DataMemoryCache(sizeLimit: 1 << 20)
            let server = Moody(contents: contents, generator: Watched(SeededGenerator(seed: seed)))
            let clock = ManualClock(now: Date())
            let transport: any HTTPTransport =
                isCached ? CachingTransport(wrapping: server, store: MemoryResponseStore(), clock: clock) : server
            // Each round is a separate process.
            for _ in 0..<4 {
                let fetcher = HTTPFetcher.make(transport, clock: clock) { configuration in
                    configuration.retries(4)
                    configuration.resume = ResumePolicy(storage: storage)
                    configuration.resume?.pieceByteCount = 600
                    configuration.resume?.minimumByteCount = 1
                }
                guard let download = try? await fetcher.fetch("http://h/a") else { continue }
                #expect(contents.contains(download.data), "seed \(seed)")
                doneCount += 1
                clock.advance(by: .seconds(Int(seed % 3) * 50))
            }
            rangeCount += server.ranges.value
        }
        #expect(rangeCount > 300)
        #expect(doneCount > 300)
    }
}
