import AlcedoCore
import FoundationEssentials

/// Keeps the bytes of one content while they arrive.
struct PartRecorder: Sendable {
    private let store: PartStore
    private let request: HTTPRequest
    private let content: UnfinishedContent
    /// The response cache's, which may become stricter.
    private var verdict: StorageVerdict?
    /// Pieces that are kept, from earlier downloads too.
    private(set) var pieceCount: Int
    /// Where the next one begins.
    private var offset: Int
    private var pending = Data()
    private var isRefused = false

    /// - Parameters:
    ///   - pieceCount: Pieces that are kept already.
    ///   - offset: Bytes that they have.
    init(
        _ store: PartStore, request: HTTPRequest, content: UnfinishedContent, pieceCount: Int = 0, offset: Int = 0
    ) {
        (self.store, self.request, self.content) = (store, request, content)
        (self.pieceCount, self.offset) = (pieceCount, offset)
        // RFC 9111 section 5.2.1.5 for the field.
        isRefused = !request.allowsStoring || request.fields.list("Cache-Control", contains: "no-store")
    }

    /// Obeys what an answer says about keeping its bytes, which are the next to come.
    mutating func heed(_ response: HTTPResponse) {
        verdict = response.caching?.verdict
        // RFC 9111 section 5.2.2.5.
        if response.head.fields.list("Cache-Control", contains: "no-store") { refuse() }
    }

    /// Takes bytes, and keeps those that make a piece.
    mutating func append(_ bytes: Data) async {
        guard !isRefused else { return }
        pending.append(bytes)
        if pending.count >= max(1, store.policy.pieceByteCount) { await keep() }
    }

    /// Keeps the bytes that have arrived since the last piece, when the transfer has ended early. Not to be called from a
    /// cancelled task.
    mutating func keepRest() async {
        if pending.count >= max(1, store.policy.minimumByteCount) { await keep() }
    }

    /// Removes everything that is kept of the content.
    mutating func forget() async {
        if pieceCount > 0 { await store.forget(request) }
        (pieceCount, offset, pending, isRefused) = (0, 0, Data(), true)
    }

    private mutating func keep() async {
        guard verdict?.policy ?? .allowed == .allowed, pending.count <= store.policy.maximumByteCount - offset else {
            return refuse()
        }
        do {
            let isKept = try await store.keep(
                pending, of: content, request: request, number: pieceCount, offset: offset)
            guard isKept else { return refuse() }
            pieceCount += 1
            offset += pending.count
            pending = Data()
        } catch {
            // Cancelled: whoever ends the transfer keeps the rest.
        }
    }

    /// What is kept stays: a beginning is of use.
    private mutating func refuse() { (pending, isRefused) = (Data(), true) }
}
