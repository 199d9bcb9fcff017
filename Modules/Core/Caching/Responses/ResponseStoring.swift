public import FoundationEssentials

/// Keeps HTTP answers for a caching transport, which decides what may be stored and served.
///
/// Calls may come from any task at the same time. Trouble with the storage is a miss, never an error: the network can
/// always answer.
public protocol ResponseStoring: Sendable {
    /// The answers stored for `url`: one for each variant.
    func responses(for url: URL) async -> [StoredResponse]
    /// Replaces the answers stored for `url`; an empty list removes them.
    func replace(_ responses: [StoredResponse], for url: URL) async
    /// Removes everything.
    func removeAll() async
}
