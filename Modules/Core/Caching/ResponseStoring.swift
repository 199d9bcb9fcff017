public import AlcedoHTTP
public import FoundationEssentials

/// Keeps HTTP answers for a caching transport, which decides what may be stored and served, and under which keys.
///
/// A key's resource is the URL in its normal form; its variant is empty for the resource's own entry, and the digest of
/// the request fields that an answer varies by for a variant. Calls may come from any task at the same time. Trouble
/// with the storage is a miss, never an error: the network can always answer.
public protocol ResponseStoring: Sendable {
    /// Returns what is stored under `key`, whole and as it was stored, and counts as a use of it.
    func entry(for key: ImageKey) async -> ResponseEntry?
    /// Stores `entry` under `key`, replacing what is there. An entry that this store does not take (too large, or not
    /// for its kind of storage) leaves nothing under `key`.
    func store(_ entry: ResponseEntry, for key: ImageKey) async
    /// Removes what is stored under `key`.
    func remove(_ key: ImageKey) async
    /// Removes the entries of every variant of a resource, its own included.
    func removeAll(of resource: ResourceKey) async
    /// Removes all answers that were stored at `date` or later; a store that does not know when may remove more.
    func removeAll(storedSince date: Date) async
    /// Removes everything.
    func removeAll() async
    /// Returns when everything that was asked for before has been done.
    func flush() async
}

extension ResponseStoring {
    /// Nothing to do for a store whose calls do all of their work before they return.
    public func flush() async {}
}

/// What a pipeline asks of the response cache below its downloader, beside having it answer requests.
public protocol ResponseCacheAccess: Sendable {
    /// Whether an answer to the request is stored, whatever its age.
    func hasResponse(for request: HTTPRequest) async -> Bool
    /// Removes the answers to the request, those to requests with other fields included.
    func removeResponses(for request: HTTPRequest) async
}
