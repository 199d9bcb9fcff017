import AlcedoCore
import FoundationEssentials

/// Keeps the first part of contents in a data cache, in pieces, each an entry of its own.
///
/// Each piece says what it is of and where it begins, so whatever other processes do at the same time, and whatever the
/// cache has dropped, what is read fits together or ends there.
struct PartStore: Sendable {
    let policy: ResumePolicy
    let storage: any DataCaching
    let time: any TimeSource

    /// Nil when nothing is to be kept.
    init?(_ policy: ResumePolicy?, time: any TimeSource) {
        guard let policy, let storage = policy.storage else { return nil }
        (self.policy, self.storage, self.time) = (policy, storage, time)
    }

    /// Reads what is kept of the answer to a request into an empty sink.
    ///
    /// - Parameter limit: Most bytes that the content may have.
    /// - Returns: The content, and how many pieces were found; nil when there is nothing to go on with.
    /// - Throws: What the sink throws.
    func restore(
        _ request: HTTPRequest, limit: Int, into sink: inout some ContentSink
    ) async throws -> (content: UnfinishedContent, pieceCount: Int)? {
        var found: (content: UnfinishedContent, pieceCount: Int)?
        while let entry = await storage.entry(for: key(request, found?.pieceCount ?? 0)) {
            guard let piece = PartPiece(entry.metadata), piece.offset == sink.count, !entry.data.isEmpty,
                let content = piece.content(of: request, now: time.now), found?.content.isSame(as: content) != false,
                entry.data.count <= min(limit, content.total ?? .max) - sink.count
            else { break }
            try await sink.append(entry.data)
            found = (found?.content ?? content, (found?.pieceCount ?? 0) + 1)
        }
        // Of a whole there is no rest to ask for.
        if let found, sink.count < found.content.total ?? .max { return found }
        if found != nil { await forget(request) }
        try await sink.removeAll()
        return nil
    }

    /// Whether the piece is kept now. Throws `CancellationError`.
    func keep(_ data: Data, of content: UnfinishedContent, request: HTTPRequest, number: Int, offset: Int)
        async throws -> Bool
    {
        guard let metadata = PartPiece(of: content, offset: offset).metadata else { return false }
        let expiry = time.now.addingTimeInterval(policy.lifetime / .seconds(1))
        do {
            try await storage.store(CachedData(data, metadata: metadata, expiry: expiry), for: key(request, number))
            return true
        } catch let error as CancellationError {
            throw error
        } catch {
            // A part that cannot be kept is fetched again.
            return false
        }
    }

    func forget(_ request: HTTPRequest) async { await storage.removeAll(of: Self.resource(request)) }

    private func key(_ request: HTTPRequest, _ number: Int) -> ImageKey {
        ImageKey(Self.resource(request), variant: "piece \(number)")
    }

    /// Beside the resource itself, which may be in the same cache.
    private static func resource(_ request: HTTPRequest) -> ResourceKey {
        ResourceKey("unfinished: \(ResourceKey(request))")
    }
}
