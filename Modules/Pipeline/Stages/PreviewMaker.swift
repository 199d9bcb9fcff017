import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// Makes pictures of the part of an image that has come, at most one at a time and so often.
///
/// Bytes are only noted when they come; a thread takes those that wait together. Trouble of any kind means no further
/// previews, never more: the whole image is decoded by itself.
final class PreviewMaker: Sendable {
    private struct State: Sendable {
        var decoder: (any IncrementalImageDecoding)?
        var pending = Data()
        /// Where the next bytes belong; a gap ends the previews.
        var offset = 0
        var isWorking = false
        /// Whether a task waits for the time of the next preview.
        var isWaiting = false
        var hasEnded = false
        var lastTime: Duration?
        /// Bytes of the previews' budget that the decoder has.
        var reserved: Int?
    }

    /// What is to be done about bytes that have come.
    private enum Step {
        case nothing
        case work
        case wait(Duration)
    }

    private let codecs: CodecRegistry
    private let options: DecodingOptions
    private let recordsFullSize: Bool
    private let threads: DecodingThreads
    private let interval: Duration
    private let clock: any TimeSource
    private let show: @Sendable (ImagePreview) -> Void
    private let state: Locked<State>

    /// - Parameter recordsFullSize: Whether previews know the full size, because they are decoded smaller for a processor.
    init(
        codecs: CodecRegistry, options: DecodingOptions, recordsFullSize: Bool, threads: DecodingThreads,
        interval: Duration, clock: any TimeSource, show: @escaping @Sendable (ImagePreview) -> Void
    ) {
        self.codecs = codecs
        self.options = options
        self.recordsFullSize = recordsFullSize
        self.threads = threads
        self.interval = interval
        self.clock = clock
        self.show = show
        state = Locked(State(decoder: codecs.makeIncrementalDecoder(options: options)))
    }

    deinit { end() }

    /// Takes bytes. Does not block.
    func append(_ bytes: Data, at offset: Int) {
        let step = state.withLock { state -> Step in
            guard !state.hasEnded else { return .nothing }
            if offset == 0, state.offset > 0 {
                state.decoder = codecs.makeIncrementalDecoder(options: options)
                (state.pending, state.offset) = (Data(), 0)
            }
            guard offset == state.offset else {
                state.hasEnded = true
                return .nothing
            }
            state.pending.append(bytes)
            state.offset += bytes.count
            return next(&state)
        }
        take(step)
    }

    /// Under the lock.
    private func next(_ state: inout State) -> Step {
        // Who works, or waits, looks again afterwards.
        guard !state.hasEnded, !state.pending.isEmpty, !state.isWorking, !state.isWaiting else { return .nothing }
        if let last = state.lastTime, clock.uptime - last < interval {
            state.isWaiting = true
            return .wait(interval - (clock.uptime - last))
        }
        state.isWorking = true
        return .work
    }

    private func take(_ step: Step) {
        switch step {
        case .nothing: break
        case .work: start()
        case .wait(let time):
            Task(executorPreference: threads.taskExecutor) { [weak self, clock] in
                try? await clock.sleep(for: time)
                self?.wake()
            }
        }
    }

    private func wake() {
        take(
            state.withLock { state in
                state.isWaiting = false
                return next(&state)
            })
    }

    /// No further previews.
    func end() {
        let reserved = state.withLock { state in
            state.hasEnded = true
            (state.decoder, state.pending) = (nil, Data())
            // A thread that works gives them back itself.
            guard !state.isWorking else { return nil as Int? }
            defer { state.reserved = nil }
            return state.reserved
        }
        if let reserved { threads.releasePreview(reserved) }
    }

    private func start() {
        Task(executorPreference: threads.taskExecutor) { [threads, self] in
            // Refused only where it could be cancelled.
            try? await threads.run(priority: PriorityHandle(.low)) { self.work() }
        }
    }

    /// Blocks.
    private func work() {
        let (decoder, bytes) = state.withLock { state in
            defer { state.pending = Data() }
            return (state.decoder, state.pending)
        }
        let preview = decoder.flatMap { self.preview(of: bytes, $0) }
        let (step, reserved) = state.withLock { state in
            state.isWorking = false
            state.lastTime = clock.uptime
            guard state.hasEnded else { return (next(&state) as Step?, nil as Int?) }
            // The canvas goes with its bytes.
            (state.decoder, state.pending) = (nil, Data())
            defer { state.reserved = nil }
            return (nil, state.reserved)
        }
        if let reserved { threads.releasePreview(reserved) }
        guard let step else { return }
        if let preview { show(preview) }
        take(step)
    }

    private func preview(of bytes: Data, _ decoder: any IncrementalImageDecoding) -> ImagePreview? {
        do throws(ImageDecodingError) {
            // Until the decoder knows what it needs, in small pieces: it allocates nothing for pixels before the call that
            // follows.
            var rest = bytes
            while decoder.decodingByteCount == nil, !rest.isEmpty {
                try decoder.append(rest.prefix(4_096))
                rest = rest.dropFirst(4_096)
            }
            guard let byteCount = decoder.decodingByteCount else { return nil }
            guard reserve(byteCount) else {
                state.withLock { $0.hasEnded = true }
                return nil
            }
            if !rest.isEmpty { try decoder.append(rest) }
            var preview = try decoder.preview()
            if recordsFullSize { preview?.image.recordFullSize(decoder.info) }
            return preview
        } catch {
            state.withLock { $0.hasEnded = true }
            return nil
        }
    }

    /// Reserves the bytes that the decoder will hold, as far as they are not reserved: an earlier decoder, of a transfer
    /// that began again, may have needed fewer.
    private func reserve(_ byteCount: Int) -> Bool {
        let missing = byteCount - (state.withLock { $0.reserved } ?? 0)
        guard missing > 0 else { return true }
        guard threads.reservePreview(missing) else { return false }
        state.withLock { $0.reserved = byteCount }
        return true
    }
}
