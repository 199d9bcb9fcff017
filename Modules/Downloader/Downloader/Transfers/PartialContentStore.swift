import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Keeps the first part of contents in a data cache, in pieces, each an entry of its own.
///
/// Each piece says what it is of and where it begins, so whatever other processes do at the same time, and whatever the
/// cache has dropped, what is read fits together or ends there.
struct PartialContentStore: Sendable {
    let policy: ResumePolicy
    let storage: any DataCaching
    let clock: any TimeSource

    /// Nil when nothing is to be stored.
    init?(_ policy: ResumePolicy?, clock: any TimeSource) {
        guard let policy, let storage = policy.storage else { return nil }
        (self.policy, self.storage, self.clock) = (policy, storage, clock)
    }

    /// Reads what is stored of the response to a request into an empty sink.
    ///
    /// - Parameter limit: The maximum number of bytes of the content.
    /// - Returns: The content, and how many pieces were found; nil when there is nothing to go on with.
    /// - Throws: What the sink throws.
    func restore(
        _ request: HTTPRequest, limit: Int, into sink: inout some ContentSink
    ) async throws -> (content: PartialContent, pieceCount: Int)? {
        var found: (content: PartialContent, pieceCount: Int)?
        while let entry = await storage.entry(for: key(request, found?.pieceCount ?? 0)) {
            guard let piece = PartialContentPiece(entry.metadata), piece.offset == sink.count, !entry.data.isEmpty,
                let content = piece.content(of: request, now: clock.now), found?.content.isSame(as: content) != false,
                entry.data.count <= min(limit, content.total ?? .max) - sink.count
            else { break }
            try await sink.append(entry.data)
            found = (found?.content ?? content, (found?.pieceCount ?? 0) + 1)
        }
        // Of a whole there is no rest to ask for.
        if let found, sink.count < found.content.total ?? .max { return found }
        if found != nil { await removeAll(of: request) }
        try await sink.removeAll()
        return nil
    }

    /// Returns whether the piece is stored now. Throws `CancellationError`.
    func store(_ data: Data, of content: PartialContent, request: HTTPRequest, number: Int, offset: Int)
        async throws -> Bool
    {
        guard let metadata = PartialContentPiece(of: content, offset: offset).metadata else { return false }
        let expiry = clock.now.addingTimeInterval(policy.lifetime / .seconds(1))
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

    func removeAll(of request: HTTPRequest) async { await storage.removeAll(of: Self.resource(request)) }

    private func key(_ request: HTTPRequest, _ number: Int) -> ImageKey {
        ImageKey(Self.resource(request), variant: "piece \(number)")
    }

    /// Beside the resource itself, which may be in the same cache.
    private static func resource(_ request: HTTPRequest) -> ResourceKey {
        ResourceKey("unfinished: \(ResourceKey(request))")
    }
}

/// Keeps the bytes of one content while they arrive.
struct PartialContentRecorder: Sendable {
    private let store: PartialContentStore
    private let request: HTTPRequest
    private let content: PartialContent
    /// The response cache's, which may become stricter.
    private var decision: StorageDecision?
    /// Pieces that are kept, from earlier downloads too.
    private(set) var pieceCount: Int
    /// Where the next one begins.
    private var offset: Int
    private var pending = Data()
    private var isStopped = false

    /// - Parameters:
    ///   - pieceCount: Pieces that are kept already.
    ///   - offset: Bytes that they have.
    init(
        _ store: PartialContentStore, request: HTTPRequest, content: PartialContent, pieceCount: Int = 0,
        offset: Int = 0
    ) {
        (self.store, self.request, self.content) = (store, request, content)
        (self.pieceCount, self.offset) = (pieceCount, offset)
        // RFC 9111 section 5.2.1.5 for the field.
        isStopped = !request.allowsStoring || request.fields.list("Cache-Control", contains: "no-store")
    }

    /// Obeys what a response says about storing its bytes, which are the next to come.
    mutating func apply(_ response: HTTPResponse) {
        decision = response.caching?.decision
        // RFC 9111 section 5.2.2.5.
        if response.head.fields.list("Cache-Control", contains: "no-store") { stop() }
    }

    /// Takes bytes, and keeps those that make a piece.
    mutating func append(_ bytes: Data) async {
        guard !isStopped else { return }
        pending.append(bytes)
        if pending.count >= max(1, store.policy.pieceByteCount) { await storePending() }
    }

    /// Keeps the bytes that have arrived since the last piece, when the transfer has ended early. Not to be called from a
    /// cancelled task.
    mutating func flush() async {
        if pending.count >= max(1, store.policy.minimumByteCount) { await storePending() }
    }

    /// Removes everything that is kept of the content.
    mutating func removeAll() async {
        if pieceCount > 0 { await store.removeAll(of: request) }
        (pieceCount, offset, pending, isStopped) = (0, 0, Data(), true)
    }

    private mutating func storePending() async {
        guard decision?.policy ?? .allowed == .allowed, pending.count <= store.policy.maximumByteCount - offset else {
            return stop()
        }
        do {
            let isStored = try await store.store(
                pending, of: content, request: request, number: pieceCount, offset: offset)
            guard isStored else { return stop() }
            pieceCount += 1
            offset += pending.count
            pending = Data()
        } catch {
            // Cancelled: whoever ends the transfer keeps the rest.
        }
    }

    /// What is kept stays: a beginning is of use.
    private mutating func stop() { (pending, isStopped) = (Data(), true) }
}

/// The metadata of a stored piece of a content, as JSON.
private struct PartialContentPiece: Codable, Equatable {
    /// Where in the content it begins.
    var offset: Int
    var url: String
    /// Names and values in turn.
    var fields: [String]

    /// Speak of somebody, or of one exchange; nothing that a file should have.
    private static let excludedFields = [
        "set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]

    init(of content: PartialContent, offset: Int) {
        self.offset = offset
        url = content.head.url.absoluteString
        fields = content.head.fields.filter { !Self.excludedFields.contains($0.name.lowercased()) }
            .flatMap { [$0.name, $0.value] }
    }

    init?(_ metadata: Data) {
        guard let piece = try? JSONDecoder().decode(Self.self, from: metadata), piece.fields.count % 2 == 0 else {
            return nil
        }
        self = piece
    }

    var metadata: Data? { try? JSONEncoder().encode(self) }

    /// The content that it is of; nil when no such content could go on.
    func content(of request: HTTPRequest, now: Date) -> PartialContent? {
        guard let url = URL(string: url) else { return nil }
        let lines = stride(from: 0, to: fields.count, by: 2).map { HTTPFields.Field(fields[$0], fields[$0 + 1]) }
        let head = HTTPResponseHead(url: url, status: 200, fields: HTTPFields(lines))
        return PartialContent(of: request, head: head, now: now)
    }
}
