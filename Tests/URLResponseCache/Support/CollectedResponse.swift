import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The response to a request, with its body read.
struct CollectedResponse: Sendable {
    var status: Int
    var fields: HTTPFields
    var body: String
    var interim: [HTTPResponseHead]
    var source: ResponseCaching.Source?
    var policy: ResponseStoragePolicy?

    init(_ response: HTTPResponse) async throws {
        let bytes = try await response.body.collect(limit: 1 << 22)
        status = response.head.status
        fields = response.head.fields
        body = String(decoding: bytes, as: UTF8.self)
        interim = response.interim
        source = response.caching?.source
        policy = response.caching?.decision.policy
    }

    /// The Cache-Status of the cache.
    var cacheStatus: String? { fields.values(of: "Cache-Status").last }
    /// Whether no request was sent.
    var isHit: Bool { cacheStatus?.hasPrefix("alcedo; hit; ttl=") == true }
    var isStored: Bool { cacheStatus?.hasSuffix("; stored") == true }
}
