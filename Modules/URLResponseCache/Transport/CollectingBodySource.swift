import AlcedoCore
import FoundationEssentials

/// Passes a body on as it arrives and keeps a copy, which it hands over when the body has ended well.
final class CollectingBodySource: HTTPBodySource {
    private let body: HTTPBody
    private let limit: Int
    private let onWhole: @Sendable (Data) async -> Void
    /// What has arrived; nil when it will not be handed over, or has been.
    private let collected = Locked<Data?>(Data())

    /// - Parameters:
    ///   - limit: Most bytes kept; a longer body is passed on and not handed over.
    ///   - onWhole: Called at most once, before the reader learns of the end.
    init(_ body: HTTPBody, limit: Int, onWhole: @escaping @Sendable (Data) async -> Void) {
        self.body = body
        self.limit = limit
        self.onWhole = onWhole
    }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        do {
            if let piece = try await iterator.next() {
                collect(piece)
                return piece
            }
        } catch {
            drop()
            throw error
        }
        if let whole = take() { await onWhole(whole) }
        return nil
    }

    func cancel() {
        drop()
        body.cancel()
    }

    private func collect(_ piece: Data) {
        collected.withLock { collected in
            guard let count = collected?.count else { return }
            if piece.count > limit - count { collected = nil } else { collected?.append(piece) }
        }
    }

    private func take() -> Data? {
        collected.withLock { collected in
            defer { collected = nil }
            return collected
        }
    }

    private func drop() { collected.withLock { $0 = nil } }
}
