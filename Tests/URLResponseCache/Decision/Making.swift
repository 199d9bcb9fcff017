import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

@testable import AlcedoURLResponseCache

/// Creates the arguments of the pure functions.
enum Making {
    static func request(
        _ fields: HTTPFields = [:], method: HTTPMethod = .get, policy: HTTPCachePolicy = .useProtocolCachePolicy
    ) -> HTTPRequest {
        HTTPRequest(method: method, url: Bench.url, fields: fields, cachePolicy: policy)
    }

    static func head(_ fields: HTTPFields, status: Int = 200) -> HTTPResponseHead {
        HTTPResponseHead(url: Bench.url, status: status, fields: fields)
    }

    /// Returns an exchange with the conditions of the stored response, requested and received this many seconds after
    /// the start.
    static func exchange(
        _ request: HTTPRequest = request(), at seconds: TimeInterval = 0, role: CacheRole = .private
    ) -> ExchangeContext {
        ExchangeContext(
            request: request, requestTime: start + seconds, responseTime: start + seconds,
            rules: ResponseCacheRules(role: role), isConditionalOnStored: true)
    }

    /// Returns the stored form of a response, whether or not HTTP allows storing it.
    static func stored(_ fields: HTTPFields, body: String = "body", role: CacheRole = .private) -> StoredResponse {
        let exchange = exchange(role: role)
        return StoredResponse(
            head: StoredHead.make(head(fields), role: role, receivedAt: start), body: body.data, requestTime: start,
            responseTime: start,
            terms: Freshness(
                head(fields), to: exchange.request, requestTime: start, responseTime: start, rules: exchange.rules))
    }
}
