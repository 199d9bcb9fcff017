import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// Responds without a network, as ``StormContent`` determines, and suspends at random points.
struct StormTransport: HTTPTransport {
    private let attempts = Watched<[Int: Int]>([:])

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let number = StormContent.number(request.url.path)
        let attempt = attempts.update { attempts -> Int in
            attempts[number, default: 0] += 1
            return attempts[number] ?? 0
        }
        // Yields, so that responses come in varying order. Any order must pass.
        await Interleaving.giveWay(times: (number + attempt) % 7)
        try Task.checkCancellation()
        let (status, fields, body) = StormContent.response(number, range: request.fields["Range"])
        func response(_ status: Int, _ fields: HTTPFields, _ body: Data, end: (any Error)? = nil) -> HTTPResponse {
            let pieces = stride(from: 0, to: body.count, by: 5_000).map {
                Data(body[$0..<min($0 + 5_000, body.count)])
            }
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(YieldingBody(ScriptedBody(pieces, end: end), turns: number % 5)))
        }
        switch StormContent.fate(of: number, attempt: attempt) {
        case .whole, .chunked, .stalling: return response(status, fields, body)
        case .breaking, .resetting:
            return response(
                status, fields, body.prefix(body.count / 2), end: HTTPTransportError(.connectionLost, "it broke"))
        case .busy: return response(503, HTTPFields(), Data())
        case .missing: return response(404, HTTPFields(), Data("no".utf8))
        case .redirect: return response(302, ["Location": "/\(number)"], Data())
        case .silent: throw HTTPTransportError(.timedOut, "nothing came")
        case .rejected: throw HTTPTransportError(.cannotConnect, "no server")
        }
    }

    private final class YieldingBody: HTTPBodySource {
        private let body: ScriptedBody
        private let turns: Int

        init(_ body: ScriptedBody, turns: Int) { (self.body, self.turns) = (body, turns) }

        func next() async throws -> Data? {
            // Yields, as above, between the pieces of a body.
            await Interleaving.giveWay(times: turns)
            return try await body.next()
        }

        func cancel() {}
    }
}
