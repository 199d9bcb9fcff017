import AlcedoRuntime
public import FoundationEssentials

/// The body of a response as a sequence of chunks, delivered as they arrive. One task reads it, once.
///
/// ```swift
/// for try await chunk in response.body { print(chunk.count) }
/// ```
///
/// A read returns all bytes that arrived since the last read, so a slow reader receives few large chunks. A transport
/// with back-pressure stops reading from its socket while the reader lags. Releasing the last copy or iterator of the
/// body before its end cancels the transfer.
public struct HTTPBody: AsyncSequence, Sendable {
    private let handle: Handle

    /// Creates a body that reads from `source`.
    public init(_ source: any HTTPBodySource) { handle = Handle(source) }

    /// Creates a body from data in memory.
    public init(_ data: Data) { self.init(DataBodySource(data)) }

    /// Returns an iterator. All iterators of a body continue at the same position.
    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

    /// Cancels the transfer. Reading then throws `CancellationError`. If the transfer has already ended and all bytes
    /// were read, the call has no effect.
    public func cancel() { handle.source.cancel() }

    /// Reads the rest of the body and returns it. Cancels the transfer if the rest exceeds the limit.
    ///
    /// - Parameter limit: The maximum number of bytes of the rest.
    /// - Returns: The bytes that were not read before, usually the whole body.
    /// - Throws: ``HTTPTransportError`` with `bodyTooLarge` if the rest exceeds the limit; otherwise, the errors of
    ///   ``HTTPBody/Iterator/next()``.
    public func collect(limit: Int) async throws -> Data {
        var whole = Data()
        for try await piece in self {
            guard piece.count <= limit - whole.count else {
                cancel()
                throw HTTPTransportError(.bodyTooLarge, "the body exceeds the limit of \(limit) bytes")
            }
            if whole.isEmpty { whole = piece } else { whole.append(piece) }
        }
        return whole
    }

    /// An iterator over the chunks of a body, for one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let handle: Handle

        /// Returns the next bytes; nil at the end.
        ///
        /// - Throws: The error of the transport, which is an ``HTTPTransportError`` for the transports of this package,
        ///   or `CancellationError`.
        public mutating func next() async throws -> Data? { try await handle.source.next() }
    }

    /// The owner of a body's source. Cancels the transfer when the last copy or iterator of the body is released.
    fileprivate final class Handle: Sendable {
        let source: any HTTPBodySource

        init(_ source: any HTTPBodySource) { self.source = source }

        deinit { source.cancel() }
    }
}

/// A source of the bytes of an ``HTTPBody``.
public protocol HTTPBodySource: Sendable {
    /// Returns the next bytes, at least one, or nil after the last. Called by one task at a time.
    ///
    /// - Throws: ``HTTPTransportError``, or `CancellationError` if the body or the calling task was canceled.
    func next() async throws -> Data?
    /// Cancels the transfer. May be called on any thread, at any time and more than once; must not block.
    func cancel()
}

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
            // A body that was read completely stays complete.
            if case .unread = state { state = .cancelled }
        }
    }
}
