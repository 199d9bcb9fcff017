import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials

/// A cache over a fake server, with shorthands for requests.
struct Bench: Sendable {
    static let url = url("http://example.test/a.png")

    let clock = ManualClock()
    let server = ScriptedTransport()
    let store: any ResponseStoring
    let cache: CachingTransport

    init(
        _ role: CacheRole = .private, store: any ResponseStoring = MemoryResponseStore(), limit: Int = 1_000,
        change: (inout ResponseCacheRules) -> Void = { _ in }, willStore: CachingTransport.StorageHook? = nil,
        willServe: CachingTransport.ServingHook? = nil
    ) {
        var rules = ResponseCacheRules(role: role)
        change(&rules)
        self.store = store
        cache = CachingTransport(
            wrapping: server, store: store, rules: rules, clock: clock, maximumBodyByteCount: limit,
            willStore: willStore, willServe: willServe)
    }

    /// Returns a URL from valid text.
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

    /// Returns the stored response to a request without fields, whatever its age, or nil.
    func find() async throws -> CollectedResponse? {
        do {
            return try await send(policy: .returnCacheDataDontLoad)
        } catch let error as HTTPTransportError where error.code == .notCached {
            return nil
        }
    }

    /// Makes the server respond to one request, and sends it.
    @discardableResult
    func load(
        _ fields: HTTPFields, status: Int = 200, body: String = "body", for request: HTTPFields = [:],
        url: URL = Bench.url
    ) async throws -> CollectedResponse {
        server.respond(status, fields, body: body)
        return try await send(request, url: url)
    }

    func advance(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    /// Returns the stored response to requests without varying fields.
    func stored(_ url: URL = Bench.url) async -> StoredResponse? {
        guard case .response(let response) = await store.entry(for: ImageKey(ResourceKey(url))) else { return nil }
        return response
    }
}
