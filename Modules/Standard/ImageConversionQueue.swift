import AlcedoCore
public import AlcedoPipeline
package import AlcedoRuntime
public import FoundationEssentials

/// The limits of conversions that run and wait at the same time. Converters with the same queue share its limits.
///
/// ```swift
/// let queue = ImageConversionQueue(maxConcurrentConversions: 4, maximumWaitingCount: 100)
/// let converter = ImageConverter(queue: queue)
/// ```
///
/// The limits apply to the `async` methods of ``ImageConverter``. Conversions begin in the order of their calls.
public final class ImageConversionQueue: Sendable {
    /// The queue of converters without one of their own: one conversion for each active processor core, any number of
    /// waiting ones, and no shared budget.
    public static let shared = ImageConversionQueue()

    /// The maximum number of conversions that run at the same time.
    public let maxConcurrentConversions: Int
    /// The maximum number of conversions that wait. One more throws ``ImageConversionError`` `queueFull` at once.
    public let maximumWaitingCount: Int
    private let executor: BlockingExecutor
    private let budget: (bytes: ByteBudget, limit: Int)?
    /// The places of running conversions that share a budget, one for each thread.
    private let places: ByteBudget
    /// The number of conversions that run or wait.
    private let count = Locked(0)

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - maxConcurrentConversions: The maximum number of conversions that run at the same time, each on a thread of
    ///     its own. Values below 1 count as 1. Default: the number of active processor cores.
    ///   - maximumWaitingCount: The maximum number of conversions that wait. Values below 0 count as 0. Default: no
    ///     limit.
    ///   - pipeline: A pipeline whose budget of memory the conversions share. When it is its turn, a conversion waits
    ///     until the memory of its decoder, processors and encoders fits beside that of the pipeline's decodes, and one
    ///     that needs more than the whole `maximumDecodingByteCount` is an `ImageDecodingError` `exceedsLimit`.
    ///     Default: nil, no shared budget.
    public init(
        maxConcurrentConversions: Int = ProcessInfo.processInfo.activeProcessorCount,
        maximumWaitingCount: Int = .max, sharingBudgetOf pipeline: ImagePipeline? = nil
    ) {
        self.maxConcurrentConversions = max(1, maxConcurrentConversions)
        self.maximumWaitingCount = max(0, maximumWaitingCount)
        budget = pipeline?.decodingBudget
        places = ByteBudget(limit: self.maxConcurrentConversions)
        executor = BlockingExecutor(name: "alcedo.convert", maxConcurrent: self.maxConcurrentConversions)
    }

    /// Creates a queue without a limit of waiting conversions, whose conversions share a budget of memory.
    ///
    /// - Parameters:
    ///   - maxConcurrentConversions: The maximum number of conversions that run at the same time.
    ///   - budget: The budget. A conversion that needs more than the whole budget runs when nothing else is reserved.
    package init(maxConcurrentConversions: Int, sharing budget: ByteBudget) {
        self.maxConcurrentConversions = max(1, maxConcurrentConversions)
        maximumWaitingCount = .max
        self.budget = (budget, .max)
        places = ByteBudget(limit: self.maxConcurrentConversions)
        executor = BlockingExecutor(name: "alcedo.convert", maxConcurrent: self.maxConcurrentConversions)
    }

    /// The number of conversions that run or wait, for logs and metrics.
    public var conversionCount: Int { count.withLock { $0 } }

    /// Throws ``ImageConversionError`` `queueFull` if no further conversion may wait.
    func checkVacancy() throws(ImageConversionError) {
        if conversionCount >= capacity { throw full }
    }

    private var capacity: Int { maxConcurrentConversions.addingClamped(maximumWaitingCount) }

    private var full: ImageConversionError {
        ImageConversionError(
            .queueFull,
            "\(maxConcurrentConversions) conversions run and \(maximumWaitingCount) wait, which is the limit "
                + "(ImageConversionQueue)")
    }

    /// Reads and opens an image and runs `work` with its pass, when there are a thread and memory for it.
    ///
    /// The bytes are reserved after the conversion has a place among the running ones, so that it holds no bytes while
    /// it waits for a place. The holders of bytes never wait for a place, so each wait for bytes ends.
    ///
    /// - Throws: ``ImageConversionError`` `queueFull`, the errors of reading, of opening and of `work`, and
    ///   `CancellationError` whenever the task was canceled before the end.
    func run<Value: Sendable>(
        _ read: @escaping @Sendable () throws -> Data,
        _ open: @escaping @Sendable (Data) throws -> ConversionPass,
        _ work: @escaping @Sendable (ConversionPass) throws -> Value
    ) async throws -> Value {
        try await admitted {
            guard let budget = self.budget else { return try await self.executor.run { try work(open(read())) } }
            return try await self.places.withReservation(of: 1) {
                // Usually the bytes are available, and opening and converting then take a single job.
                let attempt: Attempt<Value> = try await self.executor.run {
                    let data = try read()
                    let pass = try open(data)
                    let byteCount = try pass.byteCount(limit: budget.limit)
                    let value = try budget.bytes.withReservationNow(of: byteCount) { try work(pass) }
                    return value.map { .done($0) } ?? .needs(byteCount: byteCount, data)
                }
                switch attempt {
                case .done(let value): return value
                case .needs(let byteCount, let data):
                    return try await budget.bytes.withReservation(of: byteCount) {
                        try await self.executor.run { try work(open(data)) }
                    }
                }
            }
        }
    }

    /// The result of an attempt to convert without waiting for bytes.
    private enum Attempt<Value: Sendable>: Sendable {
        case done(Value)
        /// The budget does not have this many bytes left. The file may change until it has, so its bytes are kept.
        case needs(byteCount: Int, Data)
    }

    /// Runs `body` as one of the conversions that count. An error after a cancellation is a `CancellationError`, and so
    /// is a value.
    private func admitted<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let isAdmitted = count.withLock { count in
            guard count < capacity else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw full }
        defer { count.withLock { $0 -= 1 } }
        do {
            let value = try await body()
            try Task.checkCancellation()
            return value
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }
}
