/// What a pipeline asks of the response cache below its downloader, beside having it answer requests.
public protocol ResponseCacheAccess: Sendable {
    /// Whether an answer to the request is stored, whatever its age.
    func hasResponse(for request: HTTPRequest) async -> Bool
    /// Removes the answers to the request, those to requests with other fields included.
    func removeResponses(for request: HTTPRequest) async
}
