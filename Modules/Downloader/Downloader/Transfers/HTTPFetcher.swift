import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A client that downloads from servers. One call performs one download by the rules of the configuration.
final class HTTPFetcher: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void
    /// A closure that returns the request for a further attempt.
    typealias Renewal = @Sendable () async throws -> HTTPRequest

    let configuration: DownloaderConfiguration
    private let http: PolicyTransport
    private let clock: any TimeSource
    private let random: @Sendable () -> Double
    private let partialContents: PartialContentStore?
    private let threads: BlockingExecutor

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - configuration: The policies.
    ///   - clock: The clock. Default: the system's clock.
    ///   - random: A closure that returns a number from 0 to 1. Default: a random number.
    init(
        transport: any HTTPTransport, configuration: DownloaderConfiguration, clock: any TimeSource = SystemClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        (self.configuration, self.clock, self.random) = (configuration, clock, random)
        http = PolicyTransport(transport, configuration: configuration, clock: clock)
        threads = BlockingExecutor(name: "alcedo.downloads", maxConcurrent: 2, taskExecutor: configuration.taskExecutor)
        partialContents = PartialContentStore(configuration, clock: clock)
    }

    /// Returns the request as the configuration modifies it. The result is used to compare requests, and is passed to
    /// ``fetch(_:for:pause:onBytes:report:)``.
    ///
    /// - Throws: ``DownloadError`` `declined` or `hook`, or `CancellationError`.
    func prepare(_ request: HTTPRequest) async throws -> HTTPRequest { try await http.prepare(request) }

    /// Downloads a resource into memory.
    ///
    /// - Parameters:
    ///   - request: The request that ``prepare(_:)`` returned.
    ///   - transferRequest: A transfer with a retry policy that replaces the configuration's. Default: nil.
    ///   - pause: The pauses before retries, which may release the slot in the meantime. Default: nil, the task sleeps.
    ///   - onBytes: A closure that receives the bytes as they arrive, before the configuration transforms them.
    ///     Default: nil.
    ///   - report: A closure that receives progress reports. Any thread may call it, and it must not block. The
    ///     progress returns to zero when the download starts again from the first byte.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func fetch(
        _ request: HTTPRequest, for transferRequest: TransferRequest? = nil, pause: TransferPause? = nil,
        onBytes: DownloadRequest.BytesHandler? = nil, report: @escaping Report
    ) async throws -> TransferResult {
        let renewal = transferRequest?.renewal
        guard needsFallbacks else {
            return try await fetchOnce(request, renewal, transferRequest, pause, onBytes, report)
        }
        return try await firstSuccess(request, renewal, pause) { [self] in
            try await fetchOnce($0, $1, transferRequest, pause, onBytes, report)
        }
    }

    private func fetchOnce(
        _ request: HTTPRequest, _ renewal: Renewal?, _ transferRequest: TransferRequest?, _ pause: TransferPause?,
        _ onBytes: DownloadRequest.BytesHandler?, _ report: @escaping Report
    ) async throws -> TransferResult {
        var transfer = transfer(
            of: request, renewal, transferRequest, into: MemorySink(onBytes: onBytes), pause, report)
        let summary = try await transfer.run()
        var data = transfer.sink.data
        if let transform = configuration.transform {
            do {
                data = try await transformed(data, summary.head, transform)
            } catch let error as DownloadError where error.code != .tooLarge {
                throw error.rejecting(summary.caching)
            }
        }
        return TransferResult(data: data, summary: summary)
    }

    /// Whether a download may send alternative requests, has a total timeout, or uses a failure cache.
    private var needsFallbacks: Bool {
        configuration.totalTimeout != nil || configuration.alternatives != nil || configuration.failureCache != nil
    }

    /// Downloads a resource into a file. The file is replaced after the content is complete, and is left unchanged if
    /// the download fails. Content that the configuration transforms is held in memory. Otherwise, this method behaves
    /// like ``fetch(_:for:pause:onBytes:report:)``.
    func fetch(
        _ request: HTTPRequest, for transferRequest: TransferRequest? = nil, to path: String,
        pause: TransferPause? = nil,
        report: @escaping Report
    ) async throws -> TransferResult {
        guard configuration.transform == nil else {
            let result = try await fetch(request, for: transferRequest, pause: pause, report: report)
            return try await FileSink.write(path, threads: threads) { sink in
                try await sink.append(result.data)
                return result.summary
            }
        }
        return try await firstSuccess(request, transferRequest?.renewal, pause) { [self] source, renewal in
            try await FileSink.write(path, threads: threads) { [self] sink in
                var transfer = transfer(of: source, renewal, transferRequest, into: sink, pause, report)
                defer { sink = transfer.sink }
                return try await transfer.run()
            }
        }
    }

    private func transfer<Sink: ContentSink>(
        of source: HTTPRequest, _ renewal: Renewal?, _ transferRequest: TransferRequest?, into sink: Sink,
        _ pause: TransferPause?, _ report: @escaping Report
    ) -> SourceTransfer<Sink> {
        SourceTransfer(
            http, source, renewal: renewal, retry: transferRequest?.retry, partialContents: partialContents,
            random: random, sink: sink, pause: pause, report: report)
    }

    private func transformed(
        _ data: Data, _ head: HTTPResponseHead?,
        _ transform: @escaping @Sendable (Data, HTTPResponseHead) throws -> Data
    ) async throws -> Data {
        guard let head else { return data }
        let content = try await ConfigurationHook.run("the transform") {
            try await threads.run { try transform(data, head) }
        }
        guard content.count <= configuration.maximumByteCount else {
            throw DownloadError(
                .tooLarge,
                "\(content.count) bytes after the transform exceed the limit of \(configuration.maximumByteCount) bytes"
            )
        }
        guard !content.isEmpty else {
            throw DownloadError(
                .empty, "the transform of the response from \(head.url.origin) returned no bytes", head: head)
        }
        try configuration.checkContent(content, head: head)
        return content
    }

    /// Performs the request, then the configuration's alternatives until one succeeds. No alternative is tried if the
    /// request fails with `notModified` or `declined`.
    ///
    /// - Throws: The error of the first request if none succeeds, ``DownloadError`` `transport(.timedOut)` after the
    ///   total timeout, or `CancellationError`.
    private func firstSuccess(
        _ request: HTTPRequest, _ renewal: Renewal?, _ pause: TransferPause?,
        _ fetch: @escaping @Sendable (HTTPRequest, Renewal?) async throws -> TransferResult
    ) async throws -> TransferResult {
        let deadline = Deadline(
            limit: configuration.totalTimeout, clock: clock,
            subject: "the transfer of \(request.url.shown) did not finish")
        do {
            return try await deadline.run { [self] in
                do {
                    return try await consultingFailureCache(request) { try await fetch($0, renewal) }
                } catch let first as DownloadError where first.code != .notModified && first.code != .declined {
                    for (index, alternative) in (configuration.alternatives?(request) ?? []).enumerated() {
                        do {
                            return try await fetchAlternative(alternative, index, of: request, after: first) {
                                // The wait for the network before may have ended without a slot.
                                try await pause?.regainSlot()
                                return try await fetch($0, $1)
                            } renewed: {
                                try await renewal?() ?? request
                            }
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

    /// Performs an alternative, the one at an index in the list for the request. All modifiers run again before each of
    /// its further attempts, and before the first one if the request's own token has been renewed.
    ///
    /// The closure of the alternatives may have selected it by any field of the request, and only requests like this
    /// one need it. So its content is for requests with equal fields. If a further attempt is for another URL, nothing
    /// says that the content is that of the first one, and it is not shared.
    private func fetchAlternative(
        _ alternative: HTTPRequest, _ index: Int, of request: HTTPRequest, after failure: DownloadError,
        _ fetch: @escaping @Sendable (HTTPRequest, Renewal?) async throws -> TransferResult,
        renewed: @escaping Renewal
    ) async throws -> TransferResult {
        let prepareAgain: Renewal = { [self] in
            let alternatives = configuration.alternatives?(try await renewed()) ?? []
            // A shorter list has no counterpart for the user of now.
            guard index < alternatives.count else { throw failure }
            return try await prepare(alternatives[index]).withAudience(of: request)
        }
        let sent = try await ConfigurationHook.run("the request modifier") {
            try await failure.isOfRenewedRequest
                ? prepareAgain() : prepare(alternative).withAudience(of: request)
        }
        let last = Locked(sent)
        var result = try await consultingFailureCache(sent) {
            try await fetch($0) {
                let next = try await prepareAgain()
                last.withLock { $0 = next }
                return next
            }
        }
        let own = VaryingFields(leftOutOfKeyOf: request).union(VaryingFields(of: failure.head?.fields ?? HTTPFields()))
        let fields = result.summary.varyingFields.union(own).asSeen(from: request, sending: sent)
        result.summary.varyingFields = last.withLock { $0.url } == sent.url ? fields : .everything
        return result
    }

    /// Performs the request and records its failure. If the failure cache already has an error for the request, throws
    /// that error instead, unless the request ignores stored responses.
    private func consultingFailureCache<Value: Sendable>(
        _ request: HTTPRequest, _ fetch: @Sendable (HTTPRequest) async throws -> Value
    ) async throws -> Value {
        guard let failures = configuration.failureCache else { return try await fetch(request) }
        let isReload = request.cachePolicy.isReload
        let sent = configuration.addingDefaultFields(to: request)
        if !isReload, let error = failures.failure(of: request, sending: sent, at: clock.uptime) { throw error }
        do {
            let value = try await fetch(request)
            if isReload { failures.remove(request) }
            return value
        } catch let error as DownloadError {
            // A failure of a stored response says nothing about the server, and that of another request nothing about
            // this one.
            if error.rejectedSource ?? .new == .new, !error.isOfRenewedRequest {
                failures.record(error, of: request, sending: sent, at: clock.uptime)
            }
            throw error
        }
    }
}

extension HTTPRequest {
    /// Returns the request, which takes the place of another one, for the account of that one.
    fileprivate func withAudience(of replaced: HTTPRequest) -> HTTPRequest {
        var request = self
        request.audience = Audience(of: self, identifier: replaced.audience?.identifier)
        return request
    }
}
