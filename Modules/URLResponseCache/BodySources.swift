import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Passes a body on as it arrives and keeps a copy, which it hands over when the body has ended.
final class CollectingBodySource: HTTPBodySource {
    /// How a body ended.
    enum End: Sendable {
        /// At the length that its sender declares.
        case complete
        /// By an error of the transfer.
        case failed
        /// Not yet, but it exceeds the limit of what may be stored.
        case tooLong
    }

    private let body: HTTPBody
    private let limit: Int
    private let budget: CopyBudget
    private let onEnd: @Sendable (Data, End) async -> Void
    /// What has arrived; nil when it will not be handed over, or has been.
    private let collected = Locked<Data?>(Data())

    /// - Parameters:
    ///   - limit: Most bytes kept; a longer body is passed on and not handed over.
    ///   - budget: Where the bytes for the copy come from; when it has none left, the body is only passed on.
    ///   - onEnd: Called at most once, before the reader learns of the end; without bytes for a body that is too long.
    init(
        _ body: HTTPBody, limit: Int, budget: CopyBudget, onEnd: @escaping @Sendable (Data, End) async -> Void
    ) {
        self.body = body
        self.limit = limit
        self.budget = budget
        self.onEnd = onEnd
    }

    deinit { drop() }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        do {
            if let piece = try await iterator.next() {
                if !collect(piece) { await onEnd(Data(), .tooLong) }
                return piece
            }
        } catch let error as CancellationError {
            drop()
            throw error
        } catch {
            await handOver(.failed)
            throw error
        }
        await handOver(.complete)
        return nil
    }

    func cancel() {
        drop()
        body.cancel()
    }

    /// Returns false when the copy ends here.
    private func collect(_ piece: Data) -> Bool {
        let excess = collected.withLock { collected -> Int? in
            guard let count = collected?.count else { return nil }
            guard piece.count <= limit - count, budget.reserve(piece.count) else {
                collected = nil
                return count
            }
            collected?.append(piece)
            return nil
        }
        if let excess { budget.release(excess) }
        return excess == nil
    }

    private func handOver(_ end: End) async {
        guard let all = take() else { return }
        await onEnd(all, end)
        budget.release(all.count)
    }

    private func drop() {
        if let all = take() { budget.release(all.count) }
    }

    private func take() -> Data? {
        collected.withLock { collected in
            defer { collected = nil }
            return collected
        }
    }
}

/// A body with bytes before it, which ends well only if both together are as long as they should be: the sender of the
/// body knows nothing of the whole.
final class PrefixedBodySource: HTTPBodySource {
    private struct State {
        var prefix: Data?
        /// Bytes of the whole that have not been handed out.
        var left: Int
    }

    private let body: HTTPBody
    private let state: Locked<State>

    /// - Parameter count: Bytes of both together.
    init(_ prefix: Data, before body: HTTPBody, announcing count: Int) {
        state = Locked(State(prefix: prefix.isEmpty ? nil : prefix, left: count))
        self.body = body
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        if let first = state.withLock({ $0.prefix.take() }) { return try counted(first) }
        var iterator = body.makeAsyncIterator()
        if let piece = try await iterator.next() { return try counted(piece) }
        guard state.withLock({ $0.left }) == 0 else {
            throw HTTPTransportError(.connectionLost, "the rest of the body is shorter than its head says")
        }
        return nil
    }

    func cancel() { body.cancel() }

    private func counted(_ piece: Data) throws -> Data {
        let left = state.withLock { state in
            state.left -= piece.count
            return state.left
        }
        guard left >= 0 else {
            body.cancel()
            throw HTTPTransportError(.invalidResponse, "the rest of the body is longer than its head says")
        }
        return piece
    }
}

/// A number of bytes that all bodies on their way into the store share. Unlike a `ByteBudget`, it never grants more than
/// its limit.
final class CopyBudget: Sendable {
    private let available: Locked<Int>

    init(limit: Int) { available = Locked(max(0, limit)) }

    /// Reserves bytes if they are available.
    func reserve(_ count: Int) -> Bool {
        available.withLock { available in
            guard count <= available else { return false }
            available -= count
            return true
        }
    }

    func release(_ count: Int) { available.withLock { $0 += count } }
}
