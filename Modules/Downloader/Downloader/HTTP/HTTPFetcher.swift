import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Downloads from servers: one call is one download, with all that the rules say about it.
final class HTTPFetcher: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void

    let rules: DownloadRules
    private let http: PolicyTransport
    private let clock: any TimeSource
    private let random: @Sendable () -> Double
    private let parts: PartStore?
    private let threads: BlockingExecutor

    /// - Parameters:
    ///   - taskExecutor: Runs the tasks, and the writing of files in place of threads. Default: nil, Swift's own executor
    ///     and threads.
    ///   - random: Gives numbers from 0 to 1.
    init(
        transport: any HTTPTransport, rules: DownloadRules, clock: any TimeSource = SystemClock(),
        taskExecutor: (any TaskExecutor)? = nil, random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        (self.rules, self.clock, self.random) = (rules, clock, random)
        http = PolicyTransport(transport, rules: rules, clock: clock, taskExecutor: taskExecutor)
        threads = BlockingExecutor(name: "alcedo.downloads", width: 2, taskExecutor: taskExecutor)
        parts = PartStore(rules.resume, clock: clock)
    }

    /// The request as the rules change it: what is to be compared with others, and given to
    /// ``fetch(_:for:pause:onBytes:report:)``.
    ///
    /// - Throws: ``DownloadError`` `declined` or `hook`, or `CancellationError`.
    func prepare(_ request: HTTPRequest) async throws -> HTTPRequest { try await http.prepare(request) }

    /// Fetches a content into memory.
    ///
    /// - Parameters:
    ///   - request: As ``prepare(_:)`` gives it.
    ///   - order: Has the retry policy, where that is not the rules'. Default: nil.
    ///   - pause: Waits before a further attempt; a slot can be given back meanwhile. Nil just waits.
    ///   - onBytes: Is given the bytes as they come, before the rules transform them.
    ///   - report: Called while bytes arrive, from any thread; must not block. A content that has to begin anew goes back
    ///     to zero.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func fetch(
        _ request: HTTPRequest, for order: TransferRequest? = nil, pause: TransferPause? = nil,
        onBytes: DownloadRequest.BytesHandler? = nil, report: @escaping Report
    ) async throws -> Delivery {
        guard hasDetours else { return try await fetchOnce(request, order, pause, onBytes, report) }
        return try await firstThatWorks(request) { [self] in try await fetchOnce($0, order, pause, onBytes, report) }
    }

    private func fetchOnce(
        _ request: HTTPRequest, _ order: TransferRequest?, _ pause: TransferPause?,
        _ onBytes: DownloadRequest.BytesHandler?, _ report: @escaping Report
    ) async throws -> Delivery {
        var transfer = transfer(of: request, order, into: MemorySink(onBytes: onBytes), pause, report)
        let end = try await transfer.run()
        guard let transform = rules.transform else { return Delivery(data: transfer.sink.data, end: end) }
        return Delivery(data: try await transformed(transfer.sink.data, end.head, transform), end: end)
    }

    /// Whether a request may become several, or must end by a time.
    private var hasDetours: Bool {
        rules.totalTimeout != nil || rules.alternatives != nil || rules.failureCache != nil
    }

    /// Fetches a content into a file, which is replaced when the content is whole, and else left as it is. Where the rules
    /// transform the content, it goes through memory. As ``fetch(_:for:pause:onBytes:report:)`` otherwise.
    func fetch(
        _ request: HTTPRequest, for order: TransferRequest? = nil, to path: String, pause: TransferPause? = nil,
        report: @escaping Report
    ) async throws -> Delivery {
        guard rules.transform == nil else {
            let delivery = try await fetch(request, for: order, pause: pause, report: report)
            return try await FileSink.write(path, threads: threads) { sink in
                try await sink.append(delivery.data)
                return delivery.end
            }
        }
        return try await firstThatWorks(request) { [self] source in
            try await FileSink.write(path, threads: threads) { [self] sink in
                var transfer = transfer(of: source, order, into: sink, pause, report)
                defer { sink = transfer.sink }
                return try await transfer.run()
            }
        }
    }

    private func transfer<Sink: ContentSink>(
        of source: HTTPRequest, _ order: TransferRequest?, into sink: Sink, _ pause: TransferPause?,
        _ report: @escaping Report
    ) -> SourceTransfer<Sink> {
        SourceTransfer(
            http, source, order, parts: parts, random: random, sink: sink, pause: pause, report: report)
    }

    private func transformed(
        _ data: Data, _ head: HTTPResponseHead?,
        _ transform: @escaping @Sendable (Data, HTTPResponseHead) throws -> Data
    ) async throws -> Data {
        guard let head else { return data }
        let content = try await AppClosure.run("the transform") {
            try await threads.run { try transform(data, head) }
        }
        guard content.count <= rules.maximumByteCount else {
            throw DownloadError(
                .tooLarge, "the content becomes \(content.count) bytes, more than \(rules.maximumByteCount)")
        }
        guard !content.isEmpty else { throw DownloadError(.empty, "there are no bytes", head: head) }
        try rules.contentCheck?.verify(content, head: head)
        return content
    }

    /// Tries the request, then those that the rules name instead.
    ///
    /// - Throws: The first one's error when none works.
    private func firstThatWorks<Value: Sendable>(
        _ request: HTTPRequest, _ fetch: @escaping @Sendable (HTTPRequest) async throws -> Value
    ) async throws -> Value {
        let deadline = Deadline(limit: rules.totalTimeout, clock: clock, subject: "not done")
        do {
            return try await deadline.run { [self] in
                do {
                    return try await remembering(request, fetch)
                } catch let first as DownloadError where first.code != .notModified && first.code != .declined {
                    for alternative in rules.alternatives?(request) ?? [] {
                        do {
                            return try await remembering(try await prepare(alternative), fetch)
                        } catch is DownloadError {
                            continue
                        }
                    }
                    throw first
                }
            }
        } catch let error as HTTPTransportError {
            throw DownloadError(error)
        }
    }

    /// Asks the memory of failures before, and tells it after.
    private func remembering<Value: Sendable>(
        _ request: HTTPRequest, _ fetch: @Sendable (HTTPRequest) async throws -> Value
    ) async throws -> Value {
        guard let failed = rules.failureCache else { return try await fetch(request) }
        if let error = failed.failure(of: request, at: clock.uptime) { throw error }
        do {
            return try await fetch(request)
        } catch let error as DownloadError {
            failed.note(error, of: request, at: clock.uptime)
            throw error
        }
    }
}
