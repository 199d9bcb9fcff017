import FoundationEssentials

/// A body that is in memory already.
final class DataBodySource: HTTPBodySource {
    private enum State: Sendable {
        case unread(Data)
        case read
        case cancelled
    }

    private let state: Locked<State>

    init(_ data: Data) { state = Locked(data.isEmpty ? .read : .unread(data)) }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        return try state.withLock { state in
            switch state {
            case .unread(let data):
                state = .read
                return data
            case .read: return nil
            case .cancelled: throw CancellationError()
            }
        }
    }

    func cancel() {
        state.withLock { state in
            // What has been read whole stays whole.
            if case .unread = state { state = .cancelled }
        }
    }
}
