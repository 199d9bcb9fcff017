import Alcedo

/// Sends requests through another transport, and counts what comes of them.
struct CountedTransport: HTTPTransport {
    let transport: any HTTPTransport
    let tally: ExchangeTally

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        tally.change { $0.asked += 1 }
        var response = try await transport.send(request)
        let source = response.caching?.source ?? .new
        tally.change { counts in
            counts.answered += 1
            if source != .new { counts.stored += 1 }
        }
        response.body = HTTPBody(CountedBody(response.body, tally))
        return response
    }
}
