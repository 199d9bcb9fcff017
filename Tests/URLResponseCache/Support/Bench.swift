import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials

/// A cache over a fake server, and shorthands to talk to it.
struct Bench: Sendable {
    static let url = url("http://example.test/a.png")

    let clock = ManualClock()
    let server = ScriptedTransport()
    let store: any ResponseStoring
    let cache: CachingTransport

    init(
        _ role: CacheRole = .private, store: any ResponseStoring = MemoryResponseStore(), limit: Int = 1_000,
        change: (inout ResponseCacheRules) -> Void = { _ in }, willStore: CachingTransport.StorageHook? = nil
    ) {
        var rules = ResponseCacheRules(role: role)
        change(&rules)
        self.store = store
        cache = CachingTransport(
            wrapping: server, store: store, rules: rules, clock: clock, maximumBodyByteCount: limit,
            willStore: willStore)
    }

    /// A URL that is known to be one.
    static func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

    @discardableResult
    func send(
        _ fields: HTTPFields = [:], method: HTTPMethod = .get, url: URL = Bench.url, body: Data? = nil,
        policy: HTTPCachePolicy = .useProtocolCachePolicy, allowsStoring: Bool = true
    ) async throws -> CollectedResponse {
        try await CollectedResponse(
            cache.send(
                HTTPRequest(
                    method: method, url: url, fields: fields, body: body, cachePolicy: policy,
                    allowsStoring: allowsStoring)))
    }

    /// What is stored for a request without fields, whatever its age; nil for nothing.
    func find() async throws -> CollectedResponse? {
        do {
            return try await send(policy: .returnCacheDataDontLoad)
        } catch let error as HTTPTransportError where error.code == .notCached {
            return nil
        }
    }

    /// Has the server answer one request, and sends it.
    @discardableResult
    func load(
        _ fields: HTTPFields, status: Int = 200, body: String = "body", for request: HTTPFields = [:],
        url: URL = Bench.url
    ) async throws -> CollectedResponse {
        server.respond(status, fields, body: body)
        return try await send(request, url: url)
    }

    func advance(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    /// What is stored for requests without fields that answers vary by.
    func stored(_ url: URL = Bench.url) async -> StoredResponse? {
        guard case .response(let response) = await store.entry(for: ImageKey(ResourceKey(url))) else { return nil }
        return response
    }
}
