import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// Six policies, five states of the store, online and offline: the outcome of all sixty combinations.
@Suite(.timeLimit(.minutes(10)))
struct PolicyMatrixTests {
    /// What is stored before the request.
    enum State: String, CaseIterable {
        case empty, fresh, stale
        /// Stale with must-revalidate.
        case mustRevalidate
        /// The server's response had no-store.
        case noStore

        var fields: HTTPFields {
            switch self {
            case .empty: [:]
            case .fresh: ["Cache-Control": "max-age=60", "ETag": "\"v\""]
            case .stale: ["Cache-Control": "max-age=1", "ETag": "\"v\""]
            case .mustRevalidate: ["Cache-Control": "max-age=1, must-revalidate", "ETag": "\"v\""]
            case .noStore: ["Cache-Control": "no-store", "ETag": "\"v\""]
            }
        }
    }

    /// The outcome of a request.
    enum Outcome: String {
        /// From the network, requested without a condition.
        case new
        /// From the store after validation.
        case confirmed
        /// From the store without a request.
        case fresh, stale
        /// From the store after a network failure.
        case standIn
        /// The error of the network.
        case failure
        /// The error that nothing is stored, without a request.
        case notCached
    }

    struct Row: Sendable {
        var policy: HTTPCachePolicy
        /// The outcomes in the order of the states.
        var online: [Outcome]
        var offline: [Outcome]
    }

    /// The columns: empty, fresh, stale, must-revalidate, no-store.
    @Test(
        arguments: Roles.all,
        [
            Row(
                policy: .useProtocolCachePolicy,
                online: [.new, .fresh, .confirmed, .confirmed, .new],
                offline: [.failure, .fresh, .standIn, .failure, .failure]),
            Row(
                policy: .reloadIgnoringLocalCacheData,
                online: [.new, .new, .new, .new, .new],
                offline: [.failure, .failure, .failure, .failure, .failure]),
            Row(
                policy: .reloadIgnoringLocalAndRemoteCacheData,
                online: [.new, .new, .new, .new, .new],
                offline: [.failure, .failure, .failure, .failure, .failure]),
            Row(
                policy: .returnCacheDataElseLoad,
                online: [.new, .fresh, .stale, .stale, .new],
                offline: [.failure, .fresh, .stale, .stale, .failure]),
            Row(
                policy: .returnCacheDataDontLoad,
                online: [.notCached, .fresh, .stale, .stale, .notCached],
                offline: [.notCached, .fresh, .stale, .stale, .notCached]),
            Row(
                policy: .reloadRevalidatingCacheData,
                online: [.new, .confirmed, .confirmed, .confirmed, .new],
                offline: [.failure, .failure, .failure, .failure, .failure]),
        ])
    func `each policy reads, requests and stores as documented`(role: CacheRole, row: Row) async throws {
        for (state, online, offline) in zip3(State.allCases, row.online, row.offline) {
            for (isOnline, expected) in [(true, online), (false, offline)] {
                let outcome = try await self.outcome(role, row.policy, state, isOnline: isOnline)
                #expect(outcome == expected, "\(state.rawValue), \(isOnline ? "online" : "offline")")
            }
        }
    }

    private func outcome(
        _ role: CacheRole, _ policy: HTTPCachePolicy, _ state: State, isOnline: Bool
    ) async throws -> Outcome? {
        let bench = Bench(role)
        if state != .empty { try await bench.load(state.fields, body: "stored") }
        bench.advance(5)
        let before = bench.server.requests.count
        if isOnline {
            bench.server.respond { request in
                let isKnown = request.fields["If-None-Match"] == "\"v\""
                return HTTPResponse(
                    head: .init(url: request.url, status: isKnown ? 304 : 200, fields: ["ETag": "\"v\""]),
                    body: .init((isKnown ? "" : "new").data))
            }
        }
        do {
            let response = try await bench.send(policy: policy)
            let requested = bench.server.requests.count - before
            let conditional = bench.server.requests.last?.fields["If-None-Match"] != nil
            switch (response.body, response.source, requested, isOnline) {
            case ("new", .new, 1, true): return conditional ? nil : .new
            case ("stored", .revalidated, 1, true): return .confirmed
            case ("stored", .fresh, 0, _): return .fresh
            case ("stored", .stale, 0, _): return .stale
            case ("stored", .stale, 1, false): return .standIn
            default: return nil
            }
        } catch let error as HTTPTransportError {
            switch (error.code, bench.server.requests.count - before) {
            case (.notCached, 0): return .notCached
            case (.cannotConnect, 1) where !isOnline: return .failure
            default: return nil
            }
        }
    }

    private func zip3<A, B, C>(_ a: [A], _ b: [B], _ c: [C]) -> [(A, B, C)] {
        #expect(a.count == b.count)
        #expect(b.count == c.count)
        return zip(a, zip(b, c)).map { ($0, $1.0, $1.1) }
    }
}
