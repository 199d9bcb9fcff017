import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A body source that passes a body on as it arrives and keeps a copy, which it delivers when the body ends.
final class CollectingBodySource: HTTPBodySource {
    /// The reason for which the collection of a body ends.
    enum End: Sendable {
        /// The body ended without an error. Its length may differ from the declared one.
        case complete
        /// The transfer failed.
        case failed
        /// The body has not ended yet, but its copy would exceed the limit or the budget.
        case tooLong
    }

    private let body: HTTPBody
    private let limit: Int
    private let budget: CopyBudget
    private let onEnd: @Sendable (Data, End) async -> Void
    /// The bytes received so far; nil after they have been delivered or discarded.
    private let collected = Locked<Data?>(Data())

    /// Creates a source that passes on a body.
    ///
    /// - Parameters:
    ///   - body: The body to pass on.
    ///   - limit: The maximum number of bytes in the copy. A longer body is only passed on.
    ///   - budget: The budget for the copy. When it is exhausted, the body is only passed on.
    ///   - onEnd: Receives the copy when the body has ended or failed, before the reader receives the end or the error.
    ///     Receives no bytes and `tooLong` as soon as the copy would exceed the limit or the budget. Called at most
    ///     once, and not for a canceled body.
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
        // The iterator has no state of its own: every iterator continues at the same position.
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

    /// Appends a piece to the copy. If the copy would exceed the limit or the budget, discards it and returns false.
    /// Returns true without an effect if the copy no longer exists.
    private func collect(_ piece: Data) -> Bool {
        let discardedCount = collected.withLock { collected -> Int? in
            guard let count = collected?.count else { return nil }
            guard piece.count <= limit - count, budget.reserve(piece.count) else {
                collected = nil
                return count
            }
            collected?.append(piece)
            return nil
        }
        if let discardedCount { budget.release(discardedCount) }
        return discardedCount == nil
    }

    private func handOver(_ end: End) async {
        guard let copy = take() else { return }
        await onEnd(copy, end)
        budget.release(copy.count)
    }

    private func drop() {
        if let copy = take() { budget.release(copy.count) }
    }

    private func take() -> Data? {
        collected.withLock { collected in
            defer { collected = nil }
            return collected
        }
    }
}

/// A body source that delivers a prefix, then a body, and fails unless both together have the announced length.
///
/// The sender of the body knows only the length of its own part.
final class PrefixedBodySource: HTTPBodySource {
    private struct State {
        var prefix: Data?
        /// The number of bytes of the whole content that have not been delivered.
        var left: Int
    }

    private let body: HTTPBody
    private let state: Locked<State>

    /// Creates a source of a whole content.
    ///
    /// - Parameters:
    ///   - prefix: The bytes before the body.
    ///   - body: The rest of the content.
    ///   - count: The number of bytes of both together.
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
            throw HTTPTransportError(.connectionLost, "the rest of the body is shorter than its declared length")
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
            throw HTTPTransportError(.invalidResponse, "the rest of the body is longer than its declared length")
        }
        return piece
    }
}

/// A budget of bytes, shared by all bodies that are being copied for the store. Unlike a `ByteBudget`, it never grants
/// more than its limit.
final class CopyBudget: Sendable {
    private let available: Locked<Int>

    init(limit: Int) { available = Locked(max(0, limit)) }

    /// Reserves bytes if they are available. Returns whether they were.
    func reserve(_ count: Int) -> Bool {
        available.withLock { available in
            guard count <= available else { return false }
            available -= count
            return true
        }
    }

    func release(_ count: Int) { available.withLock { $0 += count } }
}
