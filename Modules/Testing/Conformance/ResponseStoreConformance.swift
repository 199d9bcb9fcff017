public import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The contract of ``/AlcedoCore/ResponseStoring``.
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(arguments: ResponseStoreConformance.checks)
/// func conforms(to check: ResponseStoreConformance.Check) async throws {
///     try await check { MyResponseStore(byteLimit: $0.byteLimit) }
/// }
/// ```
public enum ResponseStoreConformance: ConformanceKit {
    private static let options = ConformanceOptions()
    private static let start = Date(timeIntervalSinceReferenceDate: 700_000_000)

    private static func key(_ name: String, variant: String = "") -> ImageKey {
        ImageKey(ResourceKey("http://store.test/\(name)"), variant: variant)
    }

    private static func response(
        _ body: String, count: Int = 1, at seconds: TimeInterval = 0, policy: ResponseStoragePolicy = .allowed
    ) -> ResponseEntry {
        let url = URL(string: "http://store.test/") ?? URL(filePath: "/")
        let fields: HTTPFields = ["Content-Type": "text/plain", "ETag": "\"\(body)\"", "Vary": "Accept"]
        return .response(
            StoredResponse(
                head: HTTPResponseHead(url: url, status: 200, fields: fields),
                body: Data(String(repeating: body, count: count).utf8), varyingFields: ["Accept": "text/*"],
                requestTime: start + seconds, responseTime: start + seconds + 1,
                terms: Freshness(date: start + seconds, initialAge: 2, lifetime: 60, timeToLive: 300),
                storagePolicy: policy, userInfo: ["note": body]))
    }

    private static let variants = ResponseEntry.variants(
        ResponseVariants(
            nameLists: [["accept"], []], tagged: [ResponseVariants.Tagged(variant: "small", entityTag: "\"a\"")]))

    private static func require(
        _ store: any ResponseStoring, _ key: ImageKey, has entry: ResponseEntry?, _ description: String
    ) async throws {
        let found = await store.entry(for: key)
        try ConformanceFailure.require(found == entry, description)
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any ResponseStoring>] = [
        Check("a stored entry is returned unchanged, and only under its key") { make in
            let store = try make(options)
            await store.store(response("a"), for: key("a"))
            await store.store(variants, for: key("b"))
            await store.flush()
            try await require(store, key("a"), has: response("a"), "the stored response was not returned unchanged")
            try await require(store, key("b"), has: variants, "the stored list of variants was not returned unchanged")
            try await require(store, key("c"), has: nil, "an entry was returned for another key")
        },
        Check("a variant and the entry of the resource are separate") { make in
            let store = try make(options)
            await store.store(response("a"), for: key("a", variant: "small"))
            await store.flush()
            try await require(store, key("a"), has: nil, "the variant was returned for the resource")
            try await require(store, key("a", variant: "large"), has: nil, "a variant was returned for another variant")
        },
        Check("storing under an existing key replaces the entry") { make in
            let store = try make(options)
            await store.store(response("old", count: 100), for: key("a"))
            await store.store(response("new"), for: key("a"))
            await store.flush()
            try await require(store, key("a"), has: response("new"), "the new entry was not returned")
        },
        Check("replacing an entry frees the size of the old entry") { make in
            let store = try make(ConformanceOptions(byteLimit: 100_000))
            await store.store(response("other"), for: key("other"))
            for _ in 0..<30 { await store.store(response("a", count: 10_000), for: key("a")) }
            await store.flush()
            try await require(store, key("a"), has: response("a", count: 10_000), "the entry was evicted")
            try await require(store, key("other"), has: response("other"), "another entry was evicted")
        },
        Check("storing an entry that must not be stored removes the entry under its key") { make in
            let store = try make(options)
            await store.store(response("a"), for: key("a"))
            await store.store(response("b", policy: .notAllowed), for: key("a"))
            await store.flush()
            try await require(store, key("a"), has: nil, "an entry remains")
        },
        Check("storing an entry above the limit removes the entry under its key") { make in
            let store = try make(ConformanceOptions(byteLimit: 20_000))
            await store.store(response("a"), for: key("a"))
            await store.store(response("b", count: 40_000), for: key("a"))
            await store.flush()
            try await require(store, key("a"), has: nil, "an entry remains")
        },
        Check("remove removes only its entry") { make in
            let store = try make(options)
            for name in ["a", "b"] { await store.store(response(name), for: key(name)) }
            await store.remove(key("a"))
            await store.flush()
            try await require(store, key("a"), has: nil, "the entry remains")
            try await require(store, key("b"), has: response("b"), "another entry was removed")
        },
        Check("removing a resource removes all its variants and no other resource") { make in
            let store = try make(options)
            let removed = [key("a"), key("a", variant: "small"), key("a", variant: "large")]
            await store.store(variants, for: removed[0])
            for key in removed.dropFirst() { await store.store(response("a"), for: key) }
            await store.store(response("ab"), for: key("ab"))
            await store.removeAll(of: removed[0].resource)
            await store.flush()
            for key in removed { try await require(store, key, has: nil, "\(key) remains") }
            try await require(store, key("ab"), has: response("ab"), "a resource with a longer name was removed")
        },
        Check("removing since a date removes all responses received at or after it") { make in
            let store = try make(options)
            for seconds in [0.0, 10, 20] { await store.store(response("a", at: seconds), for: key("\(seconds)")) }
            await store.removeAll(storedSince: start + 11)
            await store.flush()
            try await require(store, key("10.0"), has: nil, "the response of that time remains")
            try await require(store, key("20.0"), has: nil, "a later response remains")
        },
        Check("removeAll removes all entries") { make in
            let store = try make(options)
            let keys = [key("a"), key("a", variant: "small"), key("b")]
            for key in keys { await store.store(response("a"), for: key) }
            await store.removeAll()
            await store.flush()
            for key in keys { try await require(store, key, has: nil, "\(key) remains") }
        },
        Check("concurrent tasks find only complete entries") { make in
            let store = try make(options)
            let bodies = ["a", "b", "c", "d"]
            let found = await withTaskGroup(of: Bool.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        var isWhole = true
                        for step in 0..<50 {
                            let key = key("\((task + step) % 3)")
                            await store.store(response(bodies[(task + step) % 4], count: 100), for: key)
                            guard let entry = await store.entry(for: key) else { continue }
                            isWhole = isWhole && bodies.contains { entry == response($0, count: 100) }
                        }
                        return isWhole
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            try ConformanceFailure.require(found, "an entry that was never stored was returned")
        },
    ]
}
