import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

// Asynchronous codecs, which wait in tasks. Only the header of an image, and what follows its decode, run on a thread.

/// The limit of time of one call of an asynchronous codec.
struct AsyncCodecDeadline: Sendable {
    private let timeout: Duration
    private let clock: any TimeSource

    init(_ timeout: Duration, clock: any TimeSource) { (self.timeout, self.clock) = (timeout, clock) }

    /// Returns the value of `body`. When the time is over, cancels `body`, calls `abandon` with its task, which may
    /// never end, and throws `error`.
    fileprivate func limit<Value: Sendable>(
        on taskExecutor: (any TaskExecutor)?, throwing error: any Error,
        _ body: @escaping @Sendable () async throws -> Value, abandon: (Task<Void, any Error>) -> Void
    ) async throws -> Value {
        // The value is not that of the task, which would be a second holder of an image.
        let outcome = Locked<Value?>(nil)
        // The tasks of a group would all have to end.
        let call = Task(executorPreference: taskExecutor) {
            let value = try await body()
            outcome.withLock { $0 = value }
        }
        let timer = Task(executorPreference: taskExecutor) { [clock, timeout] in try await clock.sleep(for: timeout) }
        Task(executorPreference: taskExecutor) {
            _ = await call.result
            timer.cancel()
        }
        return try await withTaskCancellationHandler {
            if case .success = await timer.result {
                call.cancel()
                abandon(call)
                throw error
            }
            try await call.value
            guard let value = outcome.withLock({ $0.take() }) else { throw CancellationError() }
            return value
        } onCancel: {
            call.cancel()
        }
    }
}

extension DecodingThreads {
    /// Awaits the decode of an image when the budget has enough bytes, and then runs `work` on a thread. The bytes stay
    /// reserved until `work` ends. In a trace, this is the decode of an image.
    ///
    /// - Parameters:
    ///   - data: The bytes to decode.
    ///   - request: The request for the image, whose group has its turn; nil for stored bytes. Default: nil.
    ///   - options: The decoding options.
    ///   - decoder: The decoder.
    ///   - consumer: A closure that creates a consumer of the rows, whose memory counts too. Default: nil.
    ///   - priority: The priority of the work.
    ///   - report: The reporter whose clock measures the decode, or nil.
    ///   - work: The work. It receives the image, which nothing else holds, the header of the file, and the uptime when
    ///     the decode began.
    /// - Throws: The errors of the header and of `work`, ``/AlcedoCore/ImageDecodingError`` of the decoder, also
    ///   `exceedsLimit` and `timedOut`, ``PipelineError`` with code `decoderUnavailable` for another error of the
    ///   decoder, or `CancellationError`.
    func decode<Value: Sendable>(
        _ data: Data, for request: ImageRequest? = nil, options: DecodingOptions, by decoder: any AsyncImageDecoding,
        into consumer: (@Sendable () -> any PixelRowConsumer)? = nil, priority: PriorityHandle,
        _ report: Reporter? = nil,
        _ work:
            @escaping @Sendable (_ image: inout DecodedImage, _ file: ImageHeader, _ start: Duration) throws -> Value
    ) async throws -> Value {
        let wait = request.map { DecodingWait(of: $0, turns) }
        defer { wait?.end() }
        let group = wait?.group
        return try await LoadSpan.run(.decode) {
            let job = TracedJob(in: ActiveSpan.current)
            defer { job.endWait() }
            let (header, needed) = try await executor.run(priority: priority, group: group) {
                try job.run {
                    let reader = try HeaderDecoder(decoder).open(data, limits: options.limits)
                    let needed =
                        reader.header.size.isPositive
                        ? try byteCount(of: reader, options, into: consumer?())
                        : min(options.limits.maximumByteCount, limit)
                    return (reader.header, needed)
                }
            }
            let budgetWait = ActiveSpan.current?.begin(.queueWait)
            defer { budgetWait?.end(.cancelled) }
            return try await budget.withReservation(of: needed, priority: priority, group: group) {
                wait?.end()
                budgetWait?.end(.success)
                let start = report?.now ?? .zero
                // A second holder would make the conversion of the colors copy the pixels.
                let decoded = Locked<DecodedImage?>(
                    try await image(data, header.format, options, by: decoder, byteCount: needed, priority))
                return try await run(priority: priority) {
                    guard var image = decoded.withLock({ $0.take() }) else { throw CancellationError() }
                    return try work(&image, header, start)
                }
            }
        }
    }

    private func image(
        _ data: Data, _ format: ImageFormat, _ options: DecodingOptions, by decoder: any AsyncImageDecoding,
        byteCount: Int, _ priority: PriorityHandle
    ) async throws -> DecodedImage {
        let timedOut = ImageDecodingError(.timedOut, "\(format): the asynchronous decoder exceeded asyncCodecTimeout")
        do {
            var image = try await limitingTime(of: byteCount, throwing: timedOut) {
                try await decoder.decode(data, options: options, priority: priority)
            }
            // The service may return another size than the header has.
            try options.limits.check(image.size, format: image.pixels.format)
            image.format = image.format ?? format
            return image
        } catch {
            // Clients of services have errors of their own for cancellation.
            try Task.checkCancellation()
            // A codec may throw any error. One of decoding has a code, which tells whether the bytes are damaged.
            if let error = error as? ImageDecodingError { throw error }
            throw PipelineError(
                .decoding(.decoderUnavailable),
                "\(format): the asynchronous decoder failed: \("\(error)".excerpt)", cause: error)
        }
    }

    /// Awaits an encode when the budget has the memory of the encoder.
    ///
    /// - Throws: The error of the encoder, ``/AlcedoCore/ImageEncodingError`` `exceedsLimit` if it needs more than the
    ///   whole budget, or `failed` after the deadline, or `CancellationError`.
    func encode(
        _ image: DecodedImage, to encoder: any AsyncImageEncoding, priority: LoadPriority
    ) async throws -> Data {
        let byteCount = encoder.encodingByteCount(of: image)
        guard byteCount <= limit else {
            throw ImageEncodingError(
                .exceedsLimit,
                "\(encoder.format): encoding an image of \(image.size) pixels needs \(byteCount.byteCountText) of "
                    + "memory; the limit is \(limit.byteCountText) (maximumDecodingByteCount)")
        }
        let timedOut = ImageEncodingError(
            .failed, "\(encoder.format): the asynchronous encoder exceeded asyncCodecTimeout")
        // As for other encoders, waiting decodes would add further images.
        return try await budget.withReservation(of: byteCount, priority: AdjustablePriority(priority.level + 1)) {
            do {
                // After the time, only the encoder holds the image.
                let held = byteCount.addingClamped(image.cost)
                return try await limitingTime(of: held, throwing: timedOut) { try await encoder.encode(image) }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        }
    }

    /// Returns the bytes that a cache stores for an image: those of the serializer's asynchronous encoder, if it has
    /// one that succeeds. Throws `CancellationError` only.
    func bytes(
        of image: DecodedImage, original: Data?, by serializer: any CacheSerializer,
        in context: CacheSerializationContext, priority: LoadPriority
    ) async throws -> (data: Data, isOriginal: Bool)? {
        if let encoder = serializer.asyncEncoder(of: image, original: original, in: context) {
            if let data = try? await encode(image.storedForm, to: encoder, priority: priority) { return (data, false) }
            try Task.checkCancellation()
        }
        return try await run(priority: PriorityHandle(priority)) {
            serializer.bytes(of: image, original: original, in: context)
        }
    }

    /// Returns the value of `body`, or throws `error` after the deadline. If `body` then does not end, the bytes that
    /// it holds stay reserved until it ends.
    private func limitingTime<Value: Sendable>(
        of byteCount: Int, throwing error: any Error, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let asyncDeadline else { return try await body() }
        return try await asyncDeadline.limit(on: taskExecutor, throwing: error, body) { call in
            budget.reserveUnconditionally(byteCount)
            Task(executorPreference: taskExecutor) { [budget] in
                _ = await call.result
                budget.release(byteCount)
            }
        }
    }
}
