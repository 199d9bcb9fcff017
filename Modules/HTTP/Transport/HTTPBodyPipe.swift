import AlcedoRuntime
package import FoundationEssentials

/// A pipe that carries a body from a transport's thread to the task that reads it, with back-pressure.
///
/// The writer is one thread, the reader one task. The lock is held only while bytes are moved; continuations are
/// resumed, and the two callbacks run, outside it. Only the code that removes the reader's continuation from the state
/// resumes it, so it is resumed once. A checked continuation would cost another allocation for each read that waits.
package final class HTTPBodyPipe: HTTPBodySource {
    /// The capacity of the buffer in bytes.
    package static let capacity = 256 << 10

    private struct State {
        var buffer = Data()
        /// The expected number of bytes still to come, as declared by the transport.
        var expected = 0
        var end: Result<Void, any Error>?
        var reader: UnsafeContinuation<Data?, any Error>?
        var writerWaits = false
    }

    private static let concurrentReadError = HTTPTransportError(.failed, "another task is already reading the body")

    private let state = Locked(State())
    private let order = ResumptionOrder()
    private let onSpace: @Sendable () -> Void
    private let onCancel: @Sendable () -> Void

    /// Creates an empty pipe.
    ///
    /// - Parameters:
    ///   - onSpace: Called when a writer whose bytes were refused may try again. Must not block.
    ///   - onCancel: Called when the reader cancels before the end. Must not block.
    package init(onSpace: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void) {
        self.onSpace = onSpace
        self.onCancel = onCancel
    }

    /// Declares the number of bytes to come, so that the buffer is allocated once. A number that is too large wastes at
    /// most ``capacity`` bytes.
    package func expect(_ count: Int) { state.withLock { $0.expected = count } }

    /// Writes all the bytes and returns true, or writes none and returns false if the buffer has no space for them.
    /// After false, the writer waits for `onSpace`.
    ///
    /// Bytes that exceed the whole capacity are accepted if the buffer is empty. After the end or a cancellation, bytes
    /// are discarded and the result is true.
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

    /// Ends the body. If `error` is nil, the body is complete. Later calls have no effect.
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
        // Small bodies are usually complete already, and a suspension has a cost even if it ends at once.
        if let result = take(orWakeLater: nil) { return try result.get() }
        defer { order.didResume() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                if let result = take(orWakeLater: continuation) { return continuation.resume(with: result) }
                // A cancellation before the reader was registered found no reader to resume.
                if Task.isCancelled { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Removes and returns the bytes that can be read now, or returns the end or an error. Returns nil if the reader
    /// must wait. In this case, `reader` is stored and resumed later, if it is not nil.
    private func take(orWakeLater reader: UnsafeContinuation<Data?, any Error>?) -> Result<Data?, any Error>? {
        let (result, hasSpace) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
            if !state.buffer.isEmpty {
                defer { (state.buffer, state.writerWaits) = (Data(), false) }
                return (.success(state.buffer), state.writerWaits)
            }
            if let end = state.end { return (end.map { nil }, false) }
            // Only one task may read. A second reader would replace the first, which would then wait forever.
            guard state.reader == nil else { return (.failure(Self.concurrentReadError), false) }
            state.reader = reader
            return (nil, false)
        }
        if hasSpace { onSpace() }
        return result
    }

    package func cancel() {
        let (reader, wasRunning) = state.withLock { state -> (UnsafeContinuation<Data?, any Error>?, Bool) in
            let wasRunning = state.end == nil
            // A body whose bytes were discarded must not end as a complete one.
            if wasRunning || !state.buffer.isEmpty { state.end = .failure(CancellationError()) }
            state.buffer = Data()
            defer { state.reader = nil }
            return (state.reader, wasRunning)
        }
        reader?.resume(throwing: CancellationError())
        if wasRunning { onCancel() }
    }
}
