import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// One history: a cache, a server, and the events.
struct HistoryRun {
    /// The number of events of each kind, which shows that a history contained them.
    struct Tally {
        var fresh = 0
        var stale = 0
        var revalidated = 0
        var new = 0
        var demanded = 0
        var unsatisfiable = 0

        static func += (tally: inout Tally, other: Tally) {
            tally.fresh += other.fresh
            tally.stale += other.stale
            tally.revalidated += other.revalidated
            tally.new += other.new
            tally.demanded += other.demanded
            tally.unsatisfiable += other.unsatisfiable
        }
    }

    struct Violation: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    static let pageCount = 5

    let role: CacheRole
    let seed: UInt64
    /// Creates the store of the first cache and of each later one, or is nil for a history without restarts.
    let makeStore: @Sendable (_ isFirst: Bool) -> (any ResponseStoring)?
    private let server: HistoryServer
    private var random: SeededGenerator
    private var cache: CachingTransport
    private(set) var tally = Tally()

    init(
        role: CacheRole, seed: UInt64, makeStore: @escaping @Sendable (_ isFirst: Bool) -> (any ResponseStoring)?
    ) throws {
        self.role = role
        self.seed = seed
        self.makeStore = makeStore
        server = HistoryServer(seed: seed, role: role)
        random = SeededGenerator(seed: seed &+ 1)
        cache = Self.cache(server, try #require(makeStore(true)), role)
    }

    private static func cache(
        _ server: HistoryServer, _ store: any ResponseStoring, _ role: CacheRole
    ) -> CachingTransport {
        CachingTransport(
            wrapping: server, store: store, rules: ResponseCacheRules(role: role), clock: server.clock)
    }

    mutating func play(steps: Int) async throws {
        for step in 0..<steps {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<4: try await change()
            case 4..<18: server.clock.advance(by: .seconds(Int.random(in: 0...30, using: &random)))
            case 18: server.clock.setDate(server.clock.now - TimeInterval(Int.random(in: 1...20, using: &random)))
            case 19:
                if let store = makeStore(false) { cache = Self.cache(server, store, role) }
            default: try await get("step \(step) of seed \(seed), \(role)")
            }
        }
    }

    private mutating func change() async throws {
        let plan = RequestPlan(pageCount: Self.pageCount, using: &random)
        let mood = mood()
        server.state.update { ($0.request, $0.mood) = (plan, mood) }
        let request = HTTPRequest(method: .post, url: plan.url, body: Data("change".utf8))
        if let response = try? await cache.send(request) { _ = try await response.text() }
        // It is unknown how far a request without a response has come.
        if mood == .unreachable { server.state.update { $0.oracle.doubt(page: plan.page) } }
        server.state.update { $0.given = [] }
    }

    private mutating func get(_ name: String) async throws {
        let plan = RequestPlan(pageCount: Self.pageCount, using: &random)
        let (request, mood, now) = (plan.request(using: &random), mood(), server.clock.now)
        let before = server.state.update { state in
            (state.request, state.mood, state.given) = (plan, mood, [])
            return state
        }
        let isDemanded = before.oracle.demandsResponse(to: plan, at: now)
        if isDemanded { tally.demanded += 1 }
        /// Records a failure with all details, once per history.
        func check(_ isRight: Bool, _ trouble: @autoclosure () -> String) throws {
            guard !isRight else { return }
            throw Violation(
                """
                \(name) at \(Int(now.timeIntervalSince1970) % 100_000): \(plan): \(trouble()); of \
                \(before.oracle.account(of: plan.page))
                """)
        }
        let response: HTTPResponse
        do {
            response = try await cache.send(request)
        } catch {
            return try check(mood == .unreachable && !isDemanded, "\(error)")
        }
        let text = try await response.text()
        await cache.finish()
        let after = server.state.value
        let (serial, isUnrequested) = (Int(text) ?? 0, after.questionCount == before.questionCount)
        try check(!isDemanded || response.caching?.source == .fresh, "not from the store: \(response.cacheStatus)")
        switch response.caching?.source {
        case .fresh, .stale:
            let isFresh = response.caching?.source == .fresh
            if isFresh { tally.fresh += 1 } else { tally.stale += 1 }
            try check(!isFresh || isUnrequested, "fresh, yet requested")
            let isTransientFailure = mood != .well && !isUnrequested
            try check(
                before.oracle.allows(serial, plan, at: now, despiteTrouble: isTransientFailure),
                "\(serial) may not be used")
            // A request takes time, and the background one may arrive before the response is made.
            let ages = before.oracle.ages(of: serial, plan, at: now).union(
                isUnrequested ? [] : before.oracle.ages(of: serial, plan, at: server.clock.now))
            let age = response.head.fields["Age"].flatMap { Int($0) }
            try check(ages.contains(age ?? -1), "\(serial) has age \(age ?? -1), not \(ages)")
        case .revalidated:
            tally.revalidated += 1
            try check(after.given.contains(serial), "\(serial) was not confirmed")
        case .new:
            tally.new += 1
            try check(mood == .troubled || after.given.contains(serial), "\(serial) is not new")
        case nil:
            tally.unsatisfiable += 1
            try check(response.head.status == 504 && plan.names.contains("only-if-cached"), "no source")
            try check(isUnrequested, "only-if-cached, yet requested")
        }
    }

    private mutating func mood() -> HistoryServer.Mood {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .troubled
        case 1: .unreachable
        default: .well
        }
    }
}
