import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A store for the received part of interrupted downloads. It stores each piece as an entry of a data cache.
///
/// Each entry records metadata of the response and the offset of the piece. Pieces that do not fit together are
/// ignored, so concurrent processes and evicted entries cannot produce wrong content.
struct PartialContentStore: Sendable {
    let policy: ResumePolicy
    let storage: any DataCaching
    let clock: any TimeSource
    private let addingDefaultFields: @Sendable (HTTPRequest) -> HTTPRequest

    /// Creates a store; nil if the configuration's policy stores nothing.
    init?(_ configuration: DownloaderConfiguration, clock: any TimeSource) {
        guard let policy = configuration.resume, let storage = policy.storage else { return nil }
        (self.policy, self.storage, self.clock) = (policy, storage, clock)
        addingDefaultFields = { configuration.addingDefaultFields(to: $0) }
    }

    /// Reads the stored pieces of the response to a request into an empty sink. If the pieces are the complete content,
    /// removes them and returns nil.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The maximum number of bytes of the content.
    ///   - sink: The empty sink.
    /// - Returns: The content and the number of pieces; nil if nothing can be resumed, and the sink is then empty.
    /// - Throws: The errors of the sink.
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
        // Complete content has no remaining bytes to request.
        if let found, sink.count < found.content.total ?? .max { return found }
        if found != nil { await removeAll(of: request) }
        try await sink.removeAll()
        return nil
    }

    /// Stores a piece of the content. Returns whether it was stored.
    ///
    /// - Throws: `CancellationError`.
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
            // The error is ignored, because a piece that is not stored is downloaded again.
            return false
        }
    }

    func removeAll(of request: HTTPRequest) async { await storage.removeAll(of: resource(request)) }

    private func key(_ request: HTTPRequest, _ number: Int) -> ImageKey {
        ImageKey(resource(request), variant: "piece \(number)")
    }

    /// Returns a key that differs from the key of the resource itself, which the same cache may store. All fields
    /// count, because no complete response has told yet which of them select the content.
    private func resource(_ request: HTTPRequest) -> ResourceKey {
        ResourceKey("unfinished: \(ResourceKey(allFieldsOf: addingDefaultFields(request)))")
    }
}

/// A recorder that stores the bytes of a download as they arrive.
struct PartialContentRecorder: Sendable {
    private let store: PartialContentStore
    private let request: HTTPRequest
    private let content: PartialContent
    /// The response cache's decision on storing, which may become stricter while bytes arrive; nil without a response
    /// cache.
    private var decision: StorageDecision?
    /// The number of stored pieces, including those of earlier downloads.
    private(set) var pieceCount: Int
    /// The offset of the next piece.
    private var offset: Int
    private var pending = Data()
    private var isStopped = false

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - store: The store for the pieces.
    ///   - request: The request.
    ///   - content: The content to store.
    ///   - pieceCount: The number of pieces that are stored already. Default: 0.
    ///   - offset: The number of bytes in these pieces. Default: 0.
    init(
        _ store: PartialContentStore, request: HTTPRequest, content: PartialContent, pieceCount: Int = 0,
        offset: Int = 0
    ) {
        (self.store, self.request, self.content) = (store, request, content)
        (self.pieceCount, self.offset) = (pieceCount, offset)
        // RFC 9111 section 5.2.1.5 defines `no-store` in requests.
        isStopped = !request.allowsStoring || request.fields.list("Cache-Control", contains: "no-store")
    }

    /// Applies a response's rules on storing to the bytes that follow.
    mutating func apply(_ response: HTTPResponse) {
        decision = response.caching?.decision
        // RFC 9111 section 5.2.2.5.
        if response.head.fields.list("Cache-Control", contains: "no-store") { stop() }
    }

    /// Appends bytes. Once the pending bytes fill a piece, stores them.
    mutating func append(_ bytes: Data) async {
        guard !isStopped else { return }
        pending.append(bytes)
        if pending.count >= max(1, store.policy.pieceByteCount) { await storePending() }
    }

    /// Stores the pending bytes of a transfer that has ended early. Fewer bytes than the policy's minimum are not
    /// stored. Must not be called from a canceled task, because the store would fail.
    mutating func flush() async {
        if pending.count >= max(1, store.policy.minimumByteCount) { await storePending() }
    }

    /// Removes all stored pieces of the content, and stops recording.
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
            // The task was canceled. The owner of the transfer stores the remaining bytes with ``flush()``.
        }
    }

    /// Stops recording and keeps the stored pieces, because a later download can resume after them.
    private mutating func stop() { (pending, isStopped) = (Data(), true) }
}

/// The metadata of a stored piece, as JSON.
private struct PartialContentPiece: Codable, Equatable {
    /// The offset of the piece in the content.
    var offset: Int
    var url: String
    /// The names and values of the fields, alternating.
    var fields: [String]

    /// Fields that concern a user or a single exchange and must not be stored.
    private static let excludedFields = [
        "set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ]

    init(of content: PartialContent, offset: Int) {
        self.offset = offset
        url = content.head.url.withoutCredentials.absoluteString
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

    /// Returns the content to which the piece belongs; nil if that content cannot be resumed.
    func content(of request: HTTPRequest, now: Date) -> PartialContent? {
        guard let url = URL(string: url) else { return nil }
        let lines = stride(from: 0, to: fields.count, by: 2).map { HTTPFields.Field(fields[$0], fields[$0 + 1]) }
        let head = HTTPResponseHead(url: url, status: 200, fields: HTTPFields(lines))
        return PartialContent(of: request, head: head, now: now)
    }
}
