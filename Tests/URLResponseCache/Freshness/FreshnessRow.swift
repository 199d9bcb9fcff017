import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// A response, and whether it is served again without a request after a number of seconds.
struct FreshnessRow: Sendable {
    var status = 200
    var fields: HTTPFields
    var after: Int
    var served: Roles

    init(_ fields: HTTPFields, status: Int = 200, after: Int, _ served: Roles) {
        self.status = status
        self.fields = fields
        self.after = after
        self.served = served
    }

    /// Loads the response, waits, and requests it again.
    func check(in role: CacheRole, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let bench = Bench(role)
        try await bench.load(fields, status: status, body: "first")
        bench.advance(after)
        bench.server.respond(200, body: "second")

        let response = try await bench.send()

        let isServed = served.contains(role)
        #expect(response.isHit == isServed, sourceLocation: sourceLocation)
        #expect(response.body == (isServed ? "first" : "second"), sourceLocation: sourceLocation)
        #expect(response.source == (isServed ? .fresh : .new), sourceLocation: sourceLocation)
    }
}
