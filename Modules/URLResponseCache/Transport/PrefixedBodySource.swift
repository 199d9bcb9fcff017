import AlcedoCore
import FoundationEssentials

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
