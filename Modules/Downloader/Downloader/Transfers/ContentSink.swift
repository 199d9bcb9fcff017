import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A destination for the bytes of a download. One task uses it.
protocol ContentSink: Sendable {
    /// The number of bytes in the sink.
    var count: Int { get }
    /// The first bytes, as many as the content check needs, or all if there are fewer.
    var beginning: Data { get }
    /// Appends a piece of the content.
    ///
    /// - Throws: ``DownloadError``, or `CancellationError`. After an error, the content must not be used.
    mutating func append(_ piece: Data) async throws
    /// Prepares for an expected total number of bytes. The sink may reserve less, because the number comes from the
    /// source and may be wrong.
    mutating func reserve(_ count: Int)
    /// Removes all bytes, so that the content can be written again.
    ///
    /// - Throws: ``DownloadError``, or `CancellationError`.
    mutating func removeAll() async throws
}

/// A sink that collects bytes in memory.
struct MemorySink: ContentSink {
    private(set) var data = Data()
    private var expectedCount = 0
    private let onBytes: DownloadRequest.BytesHandler?

    /// Creates an empty sink.
    ///
    /// - Parameter onBytes: A closure that receives the bytes as they arrive. Default: nil.
    init(onBytes: DownloadRequest.BytesHandler? = nil) { self.onBytes = onBytes }

    var count: Int { data.count }

    var beginning: Data { Data(data.prefix(CodecRegistry.sniffedByteCount)) }

    mutating func append(_ piece: Data) {
        onBytes?(data.count, piece)
        guard data.isEmpty else { return data.append(piece) }
        // A first piece that starts at index zero is not copied. Its storage may have spare capacity for further
        // pieces.
        if piece.startIndex == 0 { data = piece } else { data.append(piece) }
        if data.count < expectedCount { data.reserveCapacity(expectedCount) }
    }

    /// Sets the capacity that is reserved when the first bytes arrive, at most 1 MiB. More is allocated as bytes
    /// arrive.
    mutating func reserve(_ count: Int) { expectedCount = min(count, 1 << 20) }

    mutating func removeAll() { data = Data() }
}

/// The result of a transfer to memory or to a file.
struct TransferResult: Sendable {
    /// The content; empty if it was written to a file.
    var data = Data()
    var byteCount: Int
    var summary: TransferSummary

    init(data: Data, summary: TransferSummary) {
        (self.data, byteCount, self.summary) = (data, data.count, summary)
    }

    /// Creates the result of a transfer to a file.
    init(byteCount: Int, summary: TransferSummary) { (self.byteCount, self.summary) = (byteCount, summary) }
}

/// The result of a transfer, apart from its bytes.
struct TransferSummary: Sendable {
    /// The head of the response; nil if the source is not a server.
    var head: HTTPResponseHead?
    var caching: ResponseCaching?
    /// The transport's record of the exchange, with its metrics.
    var transfer: HTTPTransferRecord?
    /// The request fields by which the response and the redirects to it vary.
    var varyingFields = VaryingFields.none

    var metrics: HTTPTransferMetrics? { transfer?.metrics }
}

/// A throttle for progress reports. It delivers the first and the last step, and limits the rate of those in between.
struct ProgressMeter: Sendable {
    private let interval: Duration
    private let clock: any TimeSource
    private let report: @Sendable (DownloadProgress) -> Void
    private var last: DownloadProgress?
    private var lastTime = Duration.zero

    init(interval: Duration, clock: any TimeSource, report: @escaping @Sendable (DownloadProgress) -> Void) {
        self.interval = interval
        self.clock = clock
        self.report = report
    }

    /// Reports an intermediate step, unless the interval since the last report is too short. The step with the last
    /// byte is left to ``mark(_:)``, which reports it at the end, also to waiters that have joined in the meantime.
    mutating func update(_ progress: DownloadProgress) {
        guard progress.received != progress.expected else { return }
        let now = clock.uptime
        guard now - lastTime >= interval else { return }
        deliver(progress, at: now)
    }

    /// Reports the first or the last step, unless it equals the previous report.
    mutating func mark(_ progress: DownloadProgress) {
        guard progress != last else { return }
        deliver(progress, at: clock.uptime)
    }

    private mutating func deliver(_ progress: DownloadProgress, at now: Duration) {
        (last, lastTime) = (progress, now)
        report(progress)
    }
}
