import AlcedoRuntime
package import FoundationEssentials

/// Carries a body from a transport's thread to the task that reads it, and the reader's pace back.
///
/// The writer is one thread, the reader one task. The lock is held to move bytes only; continuations and the two
/// callbacks run outside it. Whoever takes the reader's continuation out of the state resumes it, so it is resumed once;
/// a checked one would be another allocation for each body.
package final class HTTPBodyPipe: HTTPBodySource {
    /// The writer's buffer is full at this many bytes.
    package static let capacity = 256 << 10

    private struct State {
        var buffer = Data()
        /// How much is still to come, as far as anybody knows.
        var expected = 0
        var end: Result<Void, any Error>?
        var reader: UnsafeContinuation<Data?, any Error>?
        var writerWaits = false
    }

    private static let isRead = HTTPTransportError(.failed, "the body is being read by another task")

    private let state = Locked(State())
    private let order = ResumptionOrder()
    private let onSpace: @Sendable () -> Void
    private let onCancel: @Sendable () -> Void

    /// - Parameters:
    ///   - onSpace: Called when a writer that was refused may try again.
    ///   - onCancel: Called when the reader has lost interest before the end. Neither may block.
    package init(onSpace: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void) {
        self.onSpace = onSpace
        self.onCancel = onCancel
    }

    /// Tells how many bytes will come, so that those which do not wait for their reader lie in one place. A promise that
    /// is not kept costs at most ``capacity`` bytes.
    package func expect(_ count: Int) { state.withLock { $0.expected = count } }

    /// Takes all the bytes, or none of them when the reader lags; the writer then waits for `onSpace`.
    ///
    /// A piece that is larger than the whole capacity is taken when the buffer is empty.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        let (taken, reader) = state.withLock { state -> (Bool, UnsafeContinuation<Data?, any Error>?) in
            guard state.end == nil else { return (true, nil) }
            if let reader = state.reader {
                state.reader = nil
                state.expected -= bytes.count
                return (true, reader)
            }
            guard state.buffer.isEmpty || state.buffer.count + bytes.count <= Self.capacity else {
                state.writerWaits = true
                return (false, nil)
            }
            if state.buffer.isEmpty {
                state.buffer = Self.buffer(bytes, expected: state.expected)
            } else {
                state.buffer.append(contentsOf: bytes)
            }
            state.expected -= bytes.count
            return (true, nil)
        }
        if let reader {
            let piece = Data(bytes)
            order.willResume()
            reader.resume(returning: piece)
        }
        return taken
    }

    private static func buffer(_ bytes: UnsafeRawBufferPointer, expected: Int) -> Data {
        guard expected > bytes.count else { return Data(bytes) }
        var buffer = Data(capacity: min(expected, max(capacity, bytes.count)))
        buffer.append(contentsOf: bytes)
        return buffer
    }

    /// Ends the body: nil for a whole one. Only the first end counts.
    package func finish(_ error: (any Error)? = nil) {
        let reader = state.withLock { state -> UnsafeContinuation<Data?, any Error>? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            defer { state.reader = nil }
            return state.reader
        }
        order.willResume()
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
    }

    package func next() async throws -> Data? {
        if Task.isCancelled { cancel() }
        // Small bodies are there whole; waiting has its price even when it is over at once.
        if let result = take(orWakeLater: nil) { return try result.get() }
        defer { order.didResume() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if let result = take(orWakeLater: continuation) { return continuation.resume(with: result) }
                // A cancellation before the reader was registered found nobody to wake.
                if Task.isCancelled { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// What can be read now; nil when the reader has to wait.
    private func take(orWakeLater reader: UnsafeContinuation<Data?, any Error>?) -> Result<Data?, any Error>? {
        let (result, hasSpace) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
            if !state.buffer.isEmpty {
                defer { (state.buffer, state.writerWaits) = (Data(), false) }
                return (.success(state.buffer), state.writerWaits)
            }
            if let end = state.end { return (end.map { nil }, false) }
            // One task reads. Another's waiting would take the first one's place, who would wait for ever.
            guard state.reader == nil else { return (.failure(Self.isRead), false) }
            state.reader = reader
            return (nil, false)
        }
        if hasSpace { onSpace() }
        return result
    }

    package func cancel() {
        let (reader, wasRunning) = state.withLock { state -> (UnsafeContinuation<Data?, any Error>?, Bool) in
            let wasRunning = state.end == nil
            // Bytes thrown away must not pass as the end of a whole body.
            if wasRunning || !state.buffer.isEmpty { state.end = .failure(CancellationError()) }
            state.buffer = Data()
            defer { state.reader = nil }
            return (state.reader, wasRunning)
        }
        reader?.resume(throwing: CancellationError())
        if wasRunning { onCancel() }
    }
}
