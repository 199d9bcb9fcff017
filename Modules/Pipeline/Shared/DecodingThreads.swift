import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// Threads for the work of codecs, and the bytes that their decoders share: one budget of decodes, which end by
/// themselves, and one of previews, whose pictures are held as long as a transfer takes.
struct DecodingThreads: Sendable {
    /// What came of trying without waiting for bytes.
    private enum Attempt<Value: Sendable>: Sendable {
        case done(Value)
        /// There are not so many bytes left.
        case needs(byteCount: Int)
    }

    private let codecs: CodecRegistry
    private let executor: BlockingExecutor
    private let budget: ByteBudget
    private let previewBudget: ByteBudget
    private let previewLimit: Int

    /// - Parameters:
    ///   - maxConcurrentDecodes: The number of threads.
    ///   - byteBudget: Most bytes that decoding holds at once. Previews have a quarter as many, beside these.
    ///   - taskExecutor: Runs the work in place of threads; nil: there are threads.
    init(codecs: CodecRegistry, maxConcurrentDecodes: Int, byteBudget: Int, taskExecutor: (any TaskExecutor)?) {
        self.codecs = codecs
        executor = BlockingExecutor(name: "alcedo.decode", width: maxConcurrentDecodes, taskExecutor: taskExecutor)
        budget = ByteBudget(limit: byteBudget)
        previewLimit = byteBudget / 4
        previewBudget = ByteBudget(limit: previewLimit)
    }

    /// Runs tasks that go with the work; nil is Swift's own executor.
    var taskExecutor: (any TaskExecutor)? { executor.taskExecutor }

    /// Runs `work`, which decodes `data`, when there are bytes for it. Throws what it throws, or `CancellationError`.
    ///
    /// - Parameter codecs: Those of the request; nil: the pipeline's.
    func decode<Value: Sendable>(
        _ data: Data, options: DecodingOptions, by codecs: CodecRegistry? = nil,
        priority: PriorityHandle = PriorityHandle(),
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // Most images need not wait for bytes, and go through in one piece of work.
        let attempt = try await executor.run(priority: priority) {
            let byteCount = byteCount(of: data, options, codecs ?? self.codecs)
            let value = try budget.withReservationNow(of: byteCount, priority: priority.value) { try work() }
            return value.map { .done($0) } ?? Attempt<Value>.needs(byteCount: byteCount)
        }
        switch attempt {
        case .done(let value): return value
        case .needs(let byteCount):
            return try await budget.withReservation(of: byteCount, priority: priority) {
                try await executor.run(priority: priority, work)
            }
        }
    }

    /// Runs work that decodes nothing, before decodes as urgent: what has been decoded takes most memory until it has been
    /// processed. Throws what it throws, or `CancellationError`.
    func run<Value: Sendable>(
        priority: PriorityHandle = PriorityHandle(), _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await executor.run(priority: priority, goesFirst: true, work)
    }

    /// Reserves bytes for a preview's pictures, if there are so many free, until ``releasePreview(_:)``. Takes nothing
    /// from decodes: a transfer may last for ever, and they must not wait for it.
    func reservePreview(_ byteCount: Int) -> Bool {
        byteCount <= previewLimit && previewBudget.reserveNow(byteCount)
    }

    func releasePreview(_ byteCount: Int) { previewBudget.release(byteCount) }

    /// What decoding will hold. Bytes that cannot be inspected are refused before there is a picture; only where a part
    /// is allowed may there be one to show, and until the decoder has said so it counts as the largest that the limits
    /// allow.
    private func byteCount(of data: Data, _ options: DecodingOptions, _ codecs: CodecRegistry) -> Int {
        do throws(ImageDecodingError) {
            return try codecs.decodingByteCount(data, options: options)
        } catch {
            return switch error.code {
            case .truncated, .corrupt: options.allowsPartial ? options.limits.maximumByteCount : 0
            case .empty, .unknownFormat, .unsupportedVariant, .exceedsLimit, .outOfMemory: 0
            }
        }
    }
}
