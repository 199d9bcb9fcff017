import AlcedoCore
import FoundationEssentials

/// Threads for the work of codecs, and the budget of bytes that their decoders share.
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

    /// - Parameters:
    ///   - width: Threads.
    ///   - byteBudget: Most bytes that decoding holds at once.
    init(codecs: CodecRegistry, width: Int, byteBudget: Int) {
        self.codecs = codecs
        executor = BlockingExecutor(name: "alcedo.decode", width: width)
        budget = ByteBudget(limit: byteBudget)
    }

    /// Runs `work`, which decodes `data`, when there are bytes for it. Throws what it throws, or `CancellationError`.
    func decode<Value: Sendable>(
        _ data: Data, options: DecodingOptions, priority: LivePriority = LivePriority(),
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // Most images need not wait for bytes, and go through in one piece of work.
        let attempt = try await executor.run(priority: priority) {
            let byteCount = byteCount(of: data, options)
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

    /// Runs work that decodes nothing. Throws what it throws, or `CancellationError`.
    func run<Value: Sendable>(
        priority: LivePriority = LivePriority(), _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await executor.run(priority: priority, work)
    }

    /// Reserves bytes of the budget, if there are so many free, until ``giveBack(_:)``.
    func reserveNow(_ byteCount: Int) -> Bool { budget.reserveNow(byteCount) }

    func giveBack(_ byteCount: Int) { budget.release(byteCount) }

    /// What decoding will hold. The decoder has the last word on bytes that cannot be inspected: there may be a part to
    /// show, or a first frame; until then they count as the largest image that the limits allow.
    private func byteCount(of data: Data, _ options: DecodingOptions) -> Int {
        do throws(ImageDecodingError) {
            return try codecs.decodingByteCount(data, options: options)
        } catch {
            return switch error.code {
            case .empty, .unknownFormat: 0
            case .truncated, .corrupt, .unsupportedVariant, .exceedsLimit, .outOfMemory:
                options.limits.maximumByteCount
            }
        }
    }
}
