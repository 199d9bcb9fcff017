import AlcedoRuntime
public import FoundationEssentials

/// The bytes of an answer, in pieces, as they arrive. Read once, by one task.
///
/// Reading gives what has arrived since the last read, so a slow reader gets few large pieces; a transport with
/// back-pressure stops reading its socket when the reader lags. Letting go of the body before its end cancels the
/// transfer.
public struct HTTPBody: AsyncSequence, Sendable {
    private let handle: Handle

    /// A body that reads from `source`.
    public init(_ source: any HTTPBodySource) { handle = Handle(source) }

    /// A body that is in memory already.
    public init(_ data: Data) { self.init(DataBodySource(data)) }

    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

    /// Stops the transfer; reading then throws `CancellationError`.
    public func cancel() { handle.source.cancel() }

    /// Reads everything.
    ///
    /// - Parameter limit: Most bytes.
    /// - Throws: ``HTTPTransportError`` (`bodyTooLarge` when there are more bytes), or `CancellationError`.
    public func collect(limit: Int) async throws -> Data {
        var whole = Data()
        for try await piece in self {
            guard piece.count <= limit - whole.count else {
                cancel()
                throw HTTPTransportError(.bodyTooLarge, "the body has more than \(limit) bytes")
            }
            if whole.isEmpty { whole = piece } else { whole.append(piece) }
        }
        return whole
    }

    /// Reads the body; one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let handle: Handle

        /// The next bytes; nil at the end.
        ///
        /// - Throws: What the transport does, ``HTTPTransportError`` by those of this package; `CancellationError`.
        public mutating func next() async throws -> Data? { try await handle.source.next() }
    }

    /// Cancels the transfer when the last copy of the body goes.
    fileprivate final class Handle: Sendable {
        let source: any HTTPBodySource

        init(_ source: any HTTPBodySource) { self.source = source }

        deinit { source.cancel() }
    }
}

/// Where an ``HTTPBody`` gets its bytes.
public protocol HTTPBodySource: Sendable {
    /// Returns the next bytes, never none, or nil after the last. Called by one task at a time.
    ///
    /// - Throws: ``HTTPTransportError``, or `CancellationError` when the body or the calling task was cancelled.
    func next() async throws -> Data?
    /// Stops the transfer. May come from any thread, at any time, more than once; must not block.
    func cancel()
}

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
