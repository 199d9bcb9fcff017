import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The threads of codecs and processors, and the byte budgets of decoding, processing and encoding.
///
/// Decodes and previews have separate budgets, because a decode ends by itself, while the canvas of a preview is held
/// as long as its transfer takes.
struct DecodingThreads: Sendable {
    /// The result of an attempt to decode without waiting for bytes.
    private enum Attempt<Value: Sendable>: Sendable {
        case done(Value)
        /// The budget does not have this many bytes left.
        case needs(byteCount: Int)
    }

    let codecs: CodecRegistry
    let turns: DecodingTurns?
    let executor: BlockingExecutor
    let budget: ByteBudget
    let limit: Int
    /// The limit of time of asynchronous codecs; nil for none.
    let asyncDeadline: AsyncCodecDeadline?
    private let previewBudget: ByteBudget
    private let previewLimit: Int

    /// Creates the threads.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of the pipeline.
    ///   - maxConcurrentDecodes: The number of threads. Values below one count as one.
    ///   - byteBudget: The maximum number of bytes that concurrent decodes hold, and one alone. Previews have a
    ///     separate budget of a quarter of that.
    ///   - turns: The rule by which groups of images take turns. Default: nil, the order of arrival.
    ///   - asyncDeadline: The limit of time of asynchronous codecs. Default: nil, none.
    ///   - taskExecutor: An executor that replaces the threads, or nil to use threads.
    init(
        codecs: CodecRegistry, maxConcurrentDecodes: Int, byteBudget: Int, turns: DecodingTurns? = nil,
        asyncDeadline: AsyncCodecDeadline? = nil, taskExecutor: (any TaskExecutor)?
    ) {
        self.codecs = codecs
        self.turns = turns
        self.asyncDeadline = asyncDeadline
        executor = BlockingExecutor(
            name: "alcedo.decode", maxConcurrent: maxConcurrentDecodes,
            maxConcurrentPerGroup: turns?.maxConcurrentPerGroup ?? .max, taskExecutor: taskExecutor)
        limit = byteBudget
        // A group whose decodes take long holds no more reservations than it may have threads, and leaves bytes to
        // others.
        budget = ByteBudget(
            limit: byteBudget,
            groupShare: ByteBudget.GroupShare(
                maxReservations: turns?.maxConcurrentPerGroup ?? .max, spareByteCount: max(0, byteBudget) / 4))
        previewLimit = byteBudget / 4
        previewBudget = ByteBudget(limit: previewLimit)
    }

    /// The executor of tasks that accompany the work, or nil for Swift's own.
    var taskExecutor: (any TaskExecutor)? { executor.taskExecutor }

    /// Opens an image, and runs `work` with its reader when the budget has enough bytes. The header is read once, and
    /// once more after waiting for the budget, because a reader stays within one job.
    ///
    /// - Parameters:
    ///   - data: The bytes to decode.
    ///   - request: The request for the image, whose group has its turn.
    ///   - options: The decoding options.
    ///   - codecs: The codecs of the request.
    ///   - consumer: A closure that creates a consumer of the rows, whose memory counts too, or nil if the image is
    ///     decoded as a whole. Default: nil.
    ///   - priority: The priority of the work.
    ///   - work: The work.
    /// - Throws: The errors of opening and of `work`, ``/AlcedoCore/ImageDecodingError`` `exceedsLimit` for data that
    ///   needs more than the whole budget, or `CancellationError`.
    func decode<Value: Sendable>(
        _ data: Data, for request: ImageRequest, options: DecodingOptions, by codecs: CodecRegistry,
        into consumer: (@Sendable () -> any PixelRowConsumer)? = nil, priority: PriorityHandle,
        _ work: @escaping @Sendable (any ImageReading) throws -> Value
    ) async throws -> Value {
        let wait = DecodingWait(of: request, turns)
        defer { wait.end() }
        return try await run(priority: priority, wait: wait, work) {
            let reader = try codecs.open(data, limits: options.limits)
            return (reader, try byteCount(of: reader, options, into: consumer?()))
        }
    }

    /// Runs `work`, which decodes stored bytes by a serializer, when the budget has enough bytes. The bytes are counted
    /// by the codecs of the pipeline, and need none if these cannot open them. Throws as
    /// ``decode(_:for:options:by:into:priority:_:)`` does.
    func decodeStored<Value: Sendable>(
        _ data: Data, options: DecodingOptions, priority: PriorityHandle = PriorityHandle(),
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(priority: priority, { _ in try work() }) {
            // The reader ends before the serializer decodes, which may need the same worker of a sandbox.
            let reader: any ImageReading
            do throws(ImageDecodingError) { reader = try codecs.open(data, limits: options.limits) } catch {
                return ((), try byteCount(after: error, options))
            }
            return ((), try byteCount(of: reader, options, into: nil))
        }
    }

    /// Runs `prepare` and then `work`, when it is the turn of the group and the budget has the bytes that `prepare`
    /// returns. The wait ends while a job runs. In a trace, this is the decode of an image.
    private func run<Context, Value: Sendable>(
        priority: PriorityHandle, wait: DecodingWait? = nil, _ work: @escaping @Sendable (Context) throws -> Value,
        after prepare: @escaping @Sendable () throws -> (context: Context, byteCount: Int)
    ) async throws -> Value {
        let group = wait?.group
        let span = ActiveSpan.current?.begin(.decode)
        do {
            let job = TracedJob(in: span)
            defer { job.endWait() }
            // Usually the bytes are available, and opening and decoding then take a single job.
            let attempt: Attempt<Value> = try await executor.run(priority: priority, group: group) {
                wait?.end()
                return try job.run {
                    let (context, byteCount) = try prepare()
                    let value = try budget.withReservationNow(of: byteCount, priority: priority.value, group: group) {
                        try work(context)
                    }
                    return value.map { .done($0) } ?? .needs(byteCount: byteCount)
                }
            }
            let value: Value
            switch attempt {
            case .done(let decoded): value = decoded
            case .needs(let byteCount):
                wait?.begin()
                let job = TracedJob(in: span)
                defer { job.endWait() }
                value = try await budget.withReservation(of: byteCount, priority: priority, group: group) {
                    try await executor.run(priority: priority, group: group) {
                        wait?.end()
                        return try job.run { try work(prepare().context) }
                    }
                }
            }
            span?.end(.success)
            return value
        } catch {
            // A codec that is interrupted throws an error of its own.
            let error = Task.isCancelled ? CancellationError() : error
            span?.end(LoadSpan.Outcome(throwing: error))
            throw error
        }
    }

    /// Encodes an image when the budget has the memory of the encoder. Calls `onBegin` just before the encode.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``, which is `exceedsLimit` if the encoder needs more than the whole
    ///   budget, or `CancellationError`.
    func encode(
        _ image: DecodedImage, to encoder: any ImageEncoding, priority: LoadPriority,
        onBegin: @escaping @Sendable () -> Void
    ) async throws -> Data {
        let byteCount = encoder.encodingByteCount(of: image)
        let limitName = "maximumDecodingByteCount"
        try encoder.check(byteCount, of: image.size, limit: limit, named: limitName)
        // An image that waits for its encoder holds memory that is not reserved. So an encode goes before waiting
        // decodes, which would add further images.
        return try await budget.withReservation(of: byteCount, priority: AdjustablePriority(priority.level + 1)) {
            do {
                return try await executor.run(priority: PriorityHandle(priority), goesFirst: true) {
                    onBegin()
                    return try encoder.encode(image, limit: limit, named: limitName)
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        }
    }

    /// Processes an image when the budget has the memory of the processors. Processing that needs more than the whole
    /// budget runs when nothing else is reserved, because its image is already in memory.
    ///
    /// - Throws: The errors of `work`, or `CancellationError`.
    func process<Value: Sendable>(
        _ image: PixelRowHeader, by processors: some BidirectionalCollection<any ImageProcessing>,
        priority: PriorityHandle, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let chain = processors.reversed().reduce(PixelRowCollector() as any PixelRowConsumer) { $1.rows(into: $0) }
        let byteCount = chain.byteCount(for: image)
        // The image is in memory, so it goes before waiting decodes, which would add further images.
        let level = priority.level.value + 1
        let value = try await run(priority: priority) {
            try budget.withReservationNow(of: byteCount, priority: level) { try work() }
        }
        if let value { return value }
        let job = TracedJob(in: ActiveSpan.current)
        defer { job.endWait() }
        return try await budget.withReservation(of: byteCount, priority: AdjustablePriority(level)) {
            try await executor.run(priority: priority, goesFirst: true) { try job.run(work) }
        }
    }

    /// Runs work that does not decode. The work begins before waiting decodes of the same priority, because a decoded
    /// image takes the most memory until it has been processed. Throws the errors of `work`, or `CancellationError`.
    func run<Value: Sendable>(
        priority: PriorityHandle = PriorityHandle(), _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let job = TracedJob(in: ActiveSpan.current)
        defer { job.endWait() }
        return try await executor.run(priority: priority, goesFirst: true) { try job.run(work) }
    }

    /// Reserves bytes for the canvas of a preview until ``releasePreview(_:)``. Returns false when the preview budget
    /// does not have them. The budget of decodes is separate, because decodes must not wait for a transfer, which may
    /// never end.
    func reservePreview(_ byteCount: Int) -> Bool {
        byteCount <= previewLimit && previewBudget.reserveNow(byteCount)
    }

    func releasePreview(_ byteCount: Int) { previewBudget.release(byteCount) }

    /// Returns the number of bytes that decoding, and the consumer of its rows if there is one, will hold. Throws
    /// `exceedsLimit` for an image that needs more than the whole budget, and as ``byteCount(after:_:)`` does.
    func byteCount(
        of reader: any ImageReading, _ options: DecodingOptions, into consumer: (any PixelRowConsumer)?
    ) throws(ImageDecodingError) -> Int {
        let byteCount: Int
        do throws(ImageDecodingError) {
            byteCount = try reader.decodingByteCount(options, into: consumer)
        } catch {
            return try self.byteCount(after: error, options)
        }
        try reader.check(byteCount, options, limit: limit, named: "maximumDecodingByteCount")
        return byteCount
    }

    /// Returns the number of bytes for an image whose bytes cannot be counted. It needs none, because decoding rejects
    /// it before it allocates pixels. When partial images are allowed, truncated or corrupt bytes count with the
    /// maximum of the limits, or with the whole budget, because they may still be decoded.
    ///
    /// - Throws: The error of a decoder that failed, took too long or had no memory: it would fail again, and take
    ///   another worker of a sandbox for as long.
    private func byteCount(
        after error: ImageDecodingError, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> Int {
        switch error.code {
        case .truncated, .corrupt: options.allowsPartial ? min(options.limits.maximumByteCount, limit) : 0
        case .empty, .unknownFormat, .unsupportedVariant, .exceedsLimit: 0
        case .timedOut, .outOfMemory, .decoderFailed, .decoderUnavailable: throw error
        }
    }
}

/// A job on a thread in the trace of a load. The time until it begins is a step.
struct TracedJob: Sendable {
    private let span: ActiveSpan?
    private let wait: ActiveSpan?

    /// Begins the wait for the thread, in a span; without one, the job is not traced.
    init(in span: ActiveSpan?) {
        self.span = span
        wait = span?.begin(.queueWait)
    }

    /// Runs the work of the job on its thread.
    func run<Value>(_ work: () throws -> Value) rethrows -> Value {
        guard let span else { return try work() }
        wait?.end(.success)
        return try ActiveSpan.$current.withValue(span, operation: work)
    }

    /// Ends the wait of a job that has not begun.
    func endWait() { wait?.end(.cancelled) }
}
