import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The previews of a load, decoded from the bytes received so far, one at a time and at most one per interval.
///
/// ``append(_:at:)`` only buffers bytes; a decoding thread then takes all buffered bytes together. After any error
/// there are no further previews. The whole image is decoded separately, so a preview never affects it.
final class PreviewMaker: Sendable {
    private struct State: Sendable {
        var decoder: (any IncrementalImageDecoding)?
        /// The number of decoders before this one. A transfer that restarts gets a new decoder, and the results of
        /// earlier decoders are dropped.
        var generation = 0
        var pending = Data()
        /// The offset of the next bytes. A gap ends the previews.
        var offset = 0
        var isWorking = false
        /// Whether a task waits until the next preview is due.
        var isWaiting = false
        var hasEnded = false
        var lastTime: Duration?
        /// The number of bytes of the preview budget that the decoder holds.
        var reserved: Int?
    }

    /// The next step after bytes were received.
    private enum Step {
        case nothing
        case work
        case wait(Duration)
    }

    private let codecs: CodecRegistry
    private let options: DecodingOptions
    private let recordsReduction: Bool
    private let threads: DecodingThreads
    private let interval: Duration
    private let clock: any TimeSource
    private let convert: @Sendable (ImagePreview) -> ImagePreview
    private let show: @Sendable (ImagePreview) -> Void
    private let state: Locked<State>

    /// Creates a preview maker.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of the request.
    ///   - options: The decoding options of the request.
    ///   - recordsReduction: Whether previews record their position in the full image, because they are decoded smaller
    ///     for a processor.
    ///   - threads: The threads and budget of decoding.
    ///   - interval: The minimum time between two previews.
    ///   - clock: The clock that measures the interval.
    ///   - convert: A closure that converts the colors of a preview.
    ///   - show: A closure that receives the previews.
    init(
        codecs: CodecRegistry, options: DecodingOptions, recordsReduction: Bool, threads: DecodingThreads,
        interval: Duration, clock: any TimeSource, convert: @escaping @Sendable (ImagePreview) -> ImagePreview,
        show: @escaping @Sendable (ImagePreview) -> Void
    ) {
        self.codecs = codecs
        self.options = options
        self.recordsReduction = recordsReduction
        self.threads = threads
        self.interval = interval
        self.clock = clock
        self.convert = convert
        self.show = show
        state = Locked(State(decoder: codecs.makeIncrementalDecoder(options: options)))
    }

    deinit { end() }

    /// Appends received bytes. Does not block.
    func append(_ bytes: Data, at offset: Int) {
        let step = state.withLock { state -> Step in
            guard !state.hasEnded else { return .nothing }
            if offset == 0, state.offset > 0 {
                state.decoder = codecs.makeIncrementalDecoder(options: options)
                state.generation += 1
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

    /// Returns the next step, and records it as begun. Must be called under the lock.
    private func next(_ state: inout State) -> Step {
        // A running or waiting task checks for further bytes when it ends.
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

    /// Ends the previews and releases the decoder.
    func end() {
        let reserved = state.withLock { state in
            state.hasEnded = true
            (state.decoder, state.pending) = (nil, Data())
            // A thread that is decoding releases the bytes when it has finished.
            guard !state.isWorking else { return nil as Int? }
            defer { state.reserved = nil }
            return state.reserved
        }
        if let reserved { threads.releasePreview(reserved) }
    }

    private func start() {
        Task(executorPreference: threads.taskExecutor) { [threads, self] in
            // This throws only when the task is canceled, which no code does.
            try? await threads.run(priority: PriorityHandle(.low)) { self.work() }
        }
    }

    /// Decodes the buffered bytes and shows a preview. Blocks.
    private func work() {
        let (decoder, generation, bytes) = state.withLock { state in
            defer { state.pending = Data() }
            return (state.decoder, state.generation, state.pending)
        }
        let (preview, hasFailed) = decoder.map { self.preview(of: bytes, $0) } ?? (nil, false)
        let (step, isCurrent, reserved) = state.withLock { state in
            state.isWorking = false
            let isCurrent = state.generation == generation
            if hasFailed, isCurrent { state.hasEnded = true }
            state.lastTime = clock.uptime
            guard state.hasEnded else { return (next(&state) as Step?, isCurrent, nil as Int?) }
            // The canvas is released with the decoder, so its reserved bytes are released below.
            (state.decoder, state.pending) = (nil, Data())
            defer { state.reserved = nil }
            return (nil, isCurrent, state.reserved)
        }
        if let reserved { threads.releasePreview(reserved) }
        guard let step else { return }
        if isCurrent, let preview { show(preview) }
        take(step)
    }

    /// Appends bytes to a decoder. Returns its preview, and whether the decoder can make no more previews.
    private func preview(
        of bytes: Data, _ decoder: any IncrementalImageDecoding
    ) -> (preview: ImagePreview?, hasFailed: Bool) {
        let span = ActiveSpan.current?.begin(.preview)
        defer { span?.end(.success) }
        do throws(ImageDecodingError) {
            // The bytes are appended in small pieces until the decoder reports how many bytes it needs. It allocates no
            // pixels before the next call.
            var rest = bytes
            while decoder.decodingByteCount == nil, !rest.isEmpty {
                try decoder.append(rest.prefix(4_096))
                rest = rest.dropFirst(4_096)
            }
            guard let byteCount = decoder.decodingByteCount else { return (nil, false) }
            guard reserve(byteCount) else { return (nil, true) }
            if !rest.isEmpty { try decoder.append(rest) }
            var preview = try decoder.preview()
            if recordsReduction, let image = preview?.image, image.reduction == nil {
                preview?.image.reduction = ImageReduction(
                    image.size, image.orientation, of: decoder.info.map(ImageHeader.init))
            }
            return (preview.map(convert), false)
        } catch {
            span?.end(.failure(error))
            return (nil, true)
        }
    }

    /// Reserves the bytes that the decoder will hold, beyond those already reserved. After a restarted transfer, the
    /// previous decoder may have needed fewer. Returns false when the preview budget does not have the bytes.
    private func reserve(_ byteCount: Int) -> Bool {
        let missing = byteCount - (state.withLock { $0.reserved } ?? 0)
        guard missing > 0 else { return true }
        guard threads.reservePreview(missing) else { return false }
        state.withLock { $0.reserved = byteCount }
        return true
    }
}
