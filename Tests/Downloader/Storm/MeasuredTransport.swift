import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// Counts the exchanges of another transport that are in progress, in total and per host.
struct MeasuredTransport: HTTPTransport {
    struct Counts: Sendable {
        var running: [String: Int] = [:]
        var requests = 0
        var maximum = 0
        var maximumPerHost = 0
    }

    private let transport: any HTTPTransport
    let counts = Watched(Counts())

    init(_ transport: any HTTPTransport) { self.transport = transport }

    var runningCount: Int { counts.value.running.values.reduce(0, +) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let presence = Presence(request.url.origin, counts)
        var response = try await transport.send(request)
        response.body = HTTPBody(Body(response.body, presence))
        return response
    }

    /// Counts from its creation until `leave()` or its release.
    private final class Presence: Sendable {
        private let host: String
        private let counts: Watched<Counts>
        private let isOver = Watched(false)

        init(_ host: String, _ counts: Watched<Counts>) {
            (self.host, self.counts) = (host, counts)
            counts.update { counts in
                counts.requests += 1
                counts.running[host, default: 0] += 1
                counts.maximum = max(counts.maximum, counts.running.values.reduce(0, +))
                counts.maximumPerHost = max(counts.maximumPerHost, counts.running[host] ?? 0)
            }
        }

        deinit { leave() }

        func leave() {
            let isFirst = isOver.update { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { counts.update { $0.running[host, default: 0] -= 1 } }
        }
    }

    private final class Body: HTTPBodySource {
        private let body: HTTPBody
        private let presence: Presence

        init(_ body: HTTPBody, _ presence: Presence) { (self.body, self.presence) = (body, presence) }

        func next() async throws -> Data? {
            do {
                var iterator = body.makeAsyncIterator()
                let piece = try await iterator.next()
                if piece == nil { presence.leave() }
                return piece
            } catch {
                presence.leave()
                throw error
            }
        }

        func cancel() {
            body.cancel()
            presence.leave()
        }
    }
}
