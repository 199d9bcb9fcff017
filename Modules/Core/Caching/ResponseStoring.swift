public import AlcedoHTTP
public import FoundationEssentials

/// Storage for HTTP responses. The caching transport that uses it decides which responses are stored and served, and
/// under which keys.
///
/// The resource of a key is the normalized URL. The variant is empty for the resource's own entry; for a response that
/// depends on request fields (`Vary`), it is the digest of those fields. Methods may be called concurrently from any
/// task. A storage failure is a miss, not an error, because the response can be loaded from the network.
public protocol ResponseStoring: Sendable {
    /// Returns the entry stored under `key`, complete and unchanged, and records a use of it. Returns nil when there is
    /// no entry, when the entry is damaged, or when the storage fails.
    func entry(for key: ImageKey) async -> ResponseEntry?
    /// Stores `entry` under `key`, replacing any existing entry. If the store does not accept the entry, for example
    /// because it is too large, it removes the existing entry.
    func store(_ entry: ResponseEntry, for key: ImageKey) async
    /// Removes the entry stored under `key`.
    func remove(_ key: ImageKey) async
    /// Removes all variants of a resource, including its own entry.
    func removeAll(of resource: ResourceKey) async
    /// Removes all responses stored at `date` or later. A store that does not record dates may remove more.
    func removeAll(storedSince date: Date) async
    /// Removes all entries.
    func removeAll() async
    /// Returns when all earlier calls have completed. The default implementation returns immediately.
    func flush() async
}

extension ResponseStoring {
    /// Returns immediately, for stores whose methods return only when their work is complete.
    public func flush() async {}
}

/// Access to the stored responses of the response cache below a downloader, for a pipeline.
public protocol ResponseCacheAccess: Sendable {
    /// Whether a response to the request is stored, regardless of its age.
    ///
    /// - Parameters:
    ///   - request: The request, with all fields that the downloader adds.
    ///   - ignoringMemory: Whether to ignore a response that is only in memory, and is lost when the process ends.
    func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) async -> Bool
    /// Removes the responses to the request, including those to requests for the same URL with other fields.
    func removeAllResponses(for request: HTTPRequest) async
    /// Removes all responses.
    func removeAll() async
}
