import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// Where the bytes of a content go. One task uses it.
protocol ContentSink: Sendable {
    /// Bytes that have been taken.
    var count: Int { get }
    /// The first of them, as many as a check of the content looks at, or all when there are fewer.
    var beginning: Data { get }
    /// - Throws: ``DownloadError``, or `CancellationError`; then the content is lost.
    mutating func append(_ piece: Data) async throws
    /// Expects so many bytes in all, as far as that can be believed.
    mutating func reserve(_ count: Int)
    /// Begins again. Throws as ``append(_:)`` does.
    mutating func removeAll() async throws
}

/// Collects a content in memory.
struct MemorySink: ContentSink {
    private(set) var data = Data()
    private var expectedCount = 0
    private let onBytes: DownloadRequest.BytesHandler?

    /// - Parameter onBytes: Is given the bytes as they come.
    init(onBytes: DownloadRequest.BytesHandler? = nil) { self.onBytes = onBytes }

    var count: Int { data.count }

    var beginning: Data { Data(data.prefix(CodecRegistry.sniffedByteCount)) }

    mutating func append(_ piece: Data) {
        onBytes?(data.count, piece)
        guard data.isEmpty else { return data.append(piece) }
        // What comes in one piece is not copied; a piece that begins a longer content may have the room for it.
        if piece.startIndex == 0 { data = piece } else { data.append(piece) }
        if data.count < expectedCount { data.reserveCapacity(expectedCount) }
    }

    /// Believed only as far as a megabyte: the rest is reserved as it comes.
    mutating func reserve(_ count: Int) { expectedCount = min(count, 1 << 20) }

    mutating func removeAll() { data = Data() }
}

/// The content that a transfer has brought, to memory or to a file.
struct TransferResult: Sendable {
    /// Empty when it went to a file.
    var data = Data()
    var byteCount: Int
    var summary: TransferSummary

    init(data: Data, summary: TransferSummary) {
        (self.data, byteCount, self.summary) = (data, data.count, summary)
    }

    /// A content that went to a file.
    init(byteCount: Int, summary: TransferSummary) { (self.byteCount, self.summary) = (byteCount, summary) }
}

/// What is known of a content beside its bytes.
struct TransferSummary: Sendable {
    /// Nil for a source that is not a server.
    var head: HTTPResponseHead?
    var caching: ResponseCaching?
    /// Where the transport has recorded the metrics of the exchange.
    var transfer: HTTPTransferRecord?

    var metrics: HTTPTransferMetrics? { transfer?.metrics }
}

/// Reports progress: the first and the last step, and of those between only so many a second.
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

    /// For the steps of which many come.
    mutating func update(_ progress: DownloadProgress) {
        let now = clock.uptime
        guard now - lastTime >= interval else { return }
        deliver(progress, at: now)
    }

    /// For the first step and the last.
    mutating func mark(_ progress: DownloadProgress) {
        guard progress != last else { return }
        deliver(progress, at: clock.uptime)
    }

    private mutating func deliver(_ progress: DownloadProgress, at now: Duration) {
        (last, lastTime) = (progress, now)
        report(progress)
    }
}
