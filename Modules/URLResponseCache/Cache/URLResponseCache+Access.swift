public import AlcedoCore

extension URLResponseCache: ResponseCacheAccess {
    public func hasResponse(for request: HTTPRequest) async -> Bool { await response(for: request) != nil }

    public func removeResponses(for request: HTTPRequest) async { await store.removeAll(of: request.resourceKey) }
}
