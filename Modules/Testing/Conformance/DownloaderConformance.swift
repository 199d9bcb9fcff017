public import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The contract of ``/AlcedoCore/Downloading``, tested over real sockets on a ``LoopbackOrigin``.
///
/// The downloader must be able to run two transfers from one server at the same time. A check waits as long as the
/// downloader does, and up to 30 seconds for the end of a connection. With a time limit, the test of a downloader that
/// never ends a download fails:
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(.timeLimit(.minutes(10)), arguments: DownloaderConformance.checks)
/// func conforms(to check: DownloaderConformance.Check) async throws {
///     try await check { _ in MyDownloader() }
/// }
/// ```
public enum DownloaderConformance: ConformanceKit {
    private static let content = bytes(1000)

    private static func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 >> 3) })
    }

    /// Returns a request for a single attempt with a long idle timeout. When many tests share few threads, a task may
    /// wait long until it runs.
    private static func request(
        _ url: URL, _ fields: HTTPFields = HTTPFields(), method: HTTPMethod = .get
    ) -> DownloadRequest {
        var request = DownloadRequest(
            .http(HTTPRequest(method: method, url: url, fields: fields, idleTimeout: .seconds(120))))
        request.retry = .never
        return request
    }

    /// Runs `body` with a new origin and downloader, and stops the origin afterwards. The handler does not receive the
    /// requests of ``passOthers(by:_:)``.
    private static func with(
        _ make: Check.Factory, _ handler: @escaping @Sendable (OriginRequest) -> OriginReply,
        _ body: (any Downloading, LoopbackOrigin) async throws -> Void
    ) async throws {
        let origin = try LoopbackOrigin { request in
            request.path.hasPrefix("/other/") ? .ok(Data([1]), type: "image/png") : handler(request)
        }
        defer { origin.stop() }
        try await body(make(ConformanceOptions()), origin)
    }

    /// Starts a download and returns its task. The call of the downloader begins before this function returns.
    private static func start(
        _ request: DownloadRequest, with downloader: any Downloading,
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) -> Task<Download, any Error> {
        Task.immediate { try await downloader.download(request, progress: progress) }
    }

    /// Completes a few other downloads, so that the downloader has handled the calls that began before.
    private static func passOthers(by downloader: any Downloading, _ origin: LoopbackOrigin) async throws {
        for number in 0..<3 {
            _ = try await downloader.download(request(origin.url(for: "/other/\(number)")))
        }
    }

    /// Throws an error unless the download fails with another error than `CancellationError`.
    private static func requireError(
        of request: DownloadRequest, by downloader: any Downloading
    ) async throws -> any Error {
        let download: Download
        do {
            download = try await downloader.download(request)
        } catch is CancellationError {
            throw ConformanceFailure("a download that was not canceled threw CancellationError")
        } catch {
            return error
        }
        throw ConformanceFailure("no error was thrown after \(download.data.count) bytes")
    }

    /// The checks for all downloaders, for a parameterized test. Downloaders for sources that are not servers also run
    /// ``localSourceChecks``.
    public static let checks: [ConformanceCheck<any Downloading>] =
        responses + failures + sharing + cancellations + options + changes

    private static let responses: [Check] = [
        Check("a download has the whole content of the response and its head") { make in
            let body = bytes(300_000)
            try await with(make, { _ in .ok(body, type: "image/png", fields: ["X-One": "1"]) }) { downloader, origin in
                let download = try await downloader.download(request(origin.url(for: "/a?b=c")))
                try ConformanceFailure.require(download.data == body, "the content differs from what was sent")
                try ConformanceFailure.require(download.head?.status == 200, "the head is missing")
                try ConformanceFailure.require(download.head?.fields["x-one"] == "1", "a field is missing")
                let target = origin.requests.first?.target
                try ConformanceFailure.require(target == "/a?b=c", "another target was requested")
            }
        },
        Check("a redirect is followed, and the head has the last URL") { make in
            let handler: @Sendable (OriginRequest) -> OriginReply = {
                $0.path == "/here" ? .redirect(to: "/there") : .ok(content, type: "image/png")
            }
            try await with(make, handler) { downloader, origin in
                let download = try await downloader.download(request(origin.url(for: "/here")))
                try ConformanceFailure.require(download.data == content, "the content is not that of the last response")
                let url = download.head?.url
                try ConformanceFailure.require(
                    url == origin.url(for: "/there"), "the head has the URL \(String(describing: url))")
            }
        },
        Check("the varying fields include those of redirects, and are nil for any field") { make in
            let handler: @Sendable (OriginRequest) -> OriginReply = { request in
                switch request.path {
                case "/here": .status(302, fields: ["Location": "/there", "Vary": "Accept-Language"])
                case "/there": .ok(content, type: "image/png", fields: ["Vary": "Accept"])
                default: .ok(content, type: "image/png", fields: ["Vary": "*"])
                }
            }
            try await with(make, handler) { downloader, origin in
                let redirected = try await downloader.download(request(origin.url(for: "/here")))
                let names = Set(redirected.varyingFieldNames?.map { $0.lowercased() } ?? ["*"])
                try ConformanceFailure.require(
                    names.contains("*") || names.isSuperset(of: ["accept", "accept-language"]),
                    "the fields are \(names)")
                let unique = try await downloader.download(request(origin.url(for: "/unique"))).varyingFieldNames
                try ConformanceFailure.require(unique == nil, "the fields of any field are not nil")
            }
        },
        Check("each of a hundred concurrent downloads has its own content") { make in
            try await with(make, { .ok(Data($0.target.utf8), type: "image/png") }) { downloader, origin in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let data = try await downloader.download(request(origin.url(for: "/\(number)"))).data
                            try ConformanceFailure.require(
                                data == Data("/\(number)".utf8), "the content belongs to another request")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        },
    ]

    private static let failures: [Check] = [
        Check("an error status throws an error with the head of the response") { make in
            try await with(make, { _ in OriginReply(status: 404, body: Data("none".utf8)) }) { downloader, origin in
                let error = try await requireError(of: request(origin.url(for: "/a")), by: downloader)
                // A downloader throws errors of its own, of which a pipeline knows only this protocol.
                let status = (error as? any HTTPResponseError)?.head?.status
                try ConformanceFailure.require(status == 404, "the error has the status \(String(describing: status))")
            }
        },
        Check("a truncated response throws an error") { make in
            let reply = OriginReply.ok(content).cutting(at: .afterBody(500))
            try await with(make, { _ in reply }) { downloader, origin in
                _ = try await requireError(of: request(origin.url(for: "/a")), by: downloader)
            }
        },
        Check("a refused connection throws an error") { make in
            let closedPort = try ClosedPort()
            defer { closedPort.free() }
            _ = try await requireError(of: request(closedPort.url), by: make(ConformanceOptions()))
        },
        Check("a request with one attempt is sent once") { make in
            try await with(make, { _ in .status(503) }) { downloader, origin in
                _ = try await requireError(of: request(origin.url(for: "/a")), by: downloader)
                let count = origin.requestCount(for: "/a")
                try ConformanceFailure.require(count == 1, "\(count) requests were sent")
            }
        },
    ]

    private static let sharing: [Check] = [
        Check("concurrent downloads of one source share a transfer") { make in
            try await with(make, stallingFirst) { downloader, origin in
                let request = request(origin.url(for: "/a"))
                let first = start(request, with: downloader)
                try await origin.waitForRequest()
                let others = (0..<3).map { _ in start(request, with: downloader) }
                try await passOthers(by: downloader, origin)
                origin.release()
                for task in [first] + others {
                    let download = try await task.value
                    try ConformanceFailure.require(download.data == content, "a download has other content")
                    try ConformanceFailure.require(download.head?.status == 200, "a download has no head")
                }
                let count = origin.requestCount(for: "/a")
                try ConformanceFailure.require(count == 1, "\(count) requests were sent")
            }
        },
        Check("requests with an unsafe method share no transfer") { make in
            try await with(make, stallingFirst) { downloader, origin in
                let request = request(origin.url(for: "/a"), method: .post)
                let first = start(request, with: downloader)
                try await origin.waitForRequest()
                let second = start(request, with: downloader)
                try await passOthers(by: downloader, origin)
                origin.release()
                for task in [first, second] { _ = try await task.value }
                let count = origin.requestCount(for: "/a")
                try ConformanceFailure.require(count == 2, "\(count) requests were sent")
            }
        },
        Check("requests of different users share no transfer") { make in
            let handler: @Sendable (OriginRequest) -> OriginReply = { request in
                let reply = OriginReply.ok(Data((request.fields["Authorization"] ?? "").utf8), type: "image/png")
                return request.attempt == 1 ? reply.stalling(at: .beforeHead) : reply
            }
            try await with(make, handler) { downloader, origin in
                let url = origin.url(for: "/a")
                let alice = start(request(url, ["Authorization": "Bearer alice"]), with: downloader)
                try await origin.waitForRequest()
                let bob = start(request(url, ["Authorization": "Bearer bob"]), with: downloader)
                try await passOthers(by: downloader, origin)
                origin.release()
                for (task, user) in [(alice, "alice"), (bob, "bob")] {
                    let data = try await task.value.data
                    try ConformanceFailure.require(
                        data == Data("Bearer \(user)".utf8), "the content is that of another user")
                }
            }
        },
    ]

    /// A reply that stalls for the first request of a target, so that a downloader without sharing does not stall for
    /// a request that arrives after the release.
    private static let stallingFirst: @Sendable (OriginRequest) -> OriginReply = { request in
        let reply = OriginReply.ok(content, type: "image/png")
        return request.attempt == 1 ? reply.stalling(at: .beforeHead) : reply
    }

    private static let cancellations: [Check] = [
        Check("canceling one of two downloads of a source leaves the other") { make in
            for canceled in 0..<2 {
                try await with(make, stallingFirst) { downloader, origin in
                    let request = request(origin.url(for: "/a"))
                    let first = start(request, with: downloader)
                    try await origin.waitForRequest()
                    let tasks = [first, start(request, with: downloader)]
                    try await passOthers(by: downloader, origin)
                    tasks[canceled].cancel()
                    try await ConformanceFailure.requireCancellation(of: tasks[canceled])
                    origin.release()
                    let data = try await tasks[1 - canceled].value.data
                    try ConformanceFailure.require(data == content, "the other download has other content")
                }
            }
        },
        Check("canceling the only download of a source ends its transfer") { make in
            let reply = OriginReply.ok(content, type: "image/png").stalling(at: .afterBody(500))
            try await with(make, { _ in reply }) { downloader, origin in
                let task = start(request(origin.url(for: "/a")), with: downloader)
                try await origin.waitForStalls()
                task.cancel()
                try await ConformanceFailure.requireCancellation(of: task)
                try await ConformanceFailure.requireDisconnect(from: origin)
            }
        },
        Check("a task that is already canceled downloads nothing") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let request = request(origin.url(for: "/a"))
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await downloader.download(request)
                }
                try await ConformanceFailure.requireCancellation(of: task)
                try ConformanceFailure.require(origin.requests.isEmpty, "a request was sent")
            }
        },
        Check("each randomly canceled download has exactly one outcome") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let tasks = (0..<90).map { number in
                    let request = request(origin.url(for: "/\(number % 40)"))
                    let task = Task { try await downloader.download(request) }
                    if number % 3 == 0 { task.cancel() }
                    return task
                }
                for (number, task) in tasks.enumerated() {
                    if number % 3 == 1 { task.cancel() }
                    do {
                        let data = try await task.value.data
                        try ConformanceFailure.require(data == content, "a download has \(data.count) bytes")
                    } catch is CancellationError {
                        try ConformanceFailure.require(
                            number % 3 != 2, "a download that was not canceled threw CancellationError")
                    }
                }
            }
        },
    ]

    private static let options: [Check] = [
        Check("the last progress is the whole content") { make in
            let body = bytes(200_000)
            let reply = OriginReply.ok(body, type: "image/png").stalling(at: .afterBody(50_000))
            try await with(make, { _ in reply }) { downloader, origin in
                let steps = Watched<[DownloadProgress]>([])
                let task = start(request(origin.url(for: "/a")), with: downloader) { step in
                    steps.update { $0.append(step) }
                }
                try await origin.waitForStalls()
                origin.release()
                _ = try await task.value
                let received = steps.value.map(\.received)
                try ConformanceFailure.require(received == received.sorted(), "the progress decreased: \(received)")
                try ConformanceFailure.require(
                    steps.value.last == DownloadProgress(received: body.count, expected: body.count),
                    "the last progress is \(String(describing: steps.value.last))")
            }
        },
        Check("received bytes, if the downloader passes them on, have their offset in the content") { make in
            let body = bytes(200_000)
            try await with(make, { _ in .ok(body, type: "image/png") }) { downloader, origin in
                let pieces = Watched<[(offset: Int, bytes: Data)]>([])
                var request = request(origin.url(for: "/a"))
                request.onBytes = { offset, bytes in pieces.update { $0.append((offset, bytes)) } }
                _ = try await downloader.download(request)
                var received = Data()
                for piece in pieces.value {
                    try ConformanceFailure.require(
                        piece.offset == received.count, "\(piece.offset) follows \(received.count) bytes")
                    received += piece.bytes
                }
                try ConformanceFailure.require(
                    received.isEmpty || received == body, "the bytes differ from the content")
            }
        },
        Check("a transfer begins when its admission returns") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let hasBegun = Watched(false)
                let isOpen = Watched(false)
                var request = request(origin.url(for: "/a"))
                request.admission = {
                    hasBegun.update { $0 = true }
                    try await isOpen.waitUntil { $0 }
                }
                let task = start(request, with: downloader)
                try await passOthers(by: downloader, origin)
                let count = origin.requestCount(for: "/a")
                isOpen.update { $0 = true }
                let data = try await task.value.data
                try ConformanceFailure.require(hasBegun.value, "the admission was not called")
                try ConformanceFailure.require(count == 0, "a request was sent before the admission returned")
                try ConformanceFailure.require(data == content, "the content differs from what was sent")
            }
        },
        Check("an admission that throws CancellationError ends the download") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                var request = request(origin.url(for: "/a"))
                request.admission = { throw CancellationError() }
                try await ConformanceFailure.requireCancellation(of: start(request, with: downloader))
                try ConformanceFailure.require(origin.requests.isEmpty, "a request was sent")
            }
        },
        Check("a further attempt, if the downloader makes one, sends the renewed request") { make in
            let handler: @Sendable (OriginRequest) -> OriginReply = {
                $0.attempt == 1 ? .status(503) : .ok(content, type: "image/png")
            }
            try await with(make, handler) { downloader, origin in
                let url = origin.url(for: "/a")
                var request = request(url, ["X-Attempt": "1"])
                request.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
                request.isModified = true
                request.renewal = { HTTPRequest(url: url, fields: ["X-Attempt": "2"]) }
                guard let download = try? await downloader.download(request) else { return }
                try ConformanceFailure.require(download.data == content, "the content differs from what was sent")
                let attempts = origin.requests.map { $0.fields["X-Attempt"] }
                try ConformanceFailure.require(attempts.last == "2", "the first request was sent again")
            }
        },
    ]

    private static let changes: [Check] = [
        Check("the default fields that the downloader announces are sent") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let expected = downloader.addingDefaultFields(to: HTTPRequest(url: origin.url(for: "/a"))).fields
                _ = try await downloader.download(request(origin.url(for: "/a")))
                try require(expected, in: origin.requests.last)
            }
        },
        Check("a request is changed as the downloader announces before it is sent") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let original = HTTPRequest(url: origin.url(for: "/a"), fields: ["X-Own": "1"])
                let modified = try await downloader.modified(original)
                try ConformanceFailure.require(
                    downloader.modifiesRequests || modified == original,
                    "a request was changed although modifiesRequests is false")
                _ = try await downloader.download(request(modified.url, original.fields))
                // Values, such as those of signatures, may differ from one call to the next.
                let sent = origin.requests.last?.fields
                for name in modified.fields.map(\.name) {
                    try ConformanceFailure.require(sent?[name] != nil, "the field \(name) was not sent")
                }
            }
        },
        Check("a request that has been changed is not changed again") { make in
            try await with(make, { _ in .ok(content, type: "image/png") }) { downloader, origin in
                let modified = try await downloader.modified(HTTPRequest(url: origin.url(for: "/a")))
                var request = DownloadRequest(.http(modified))
                request.isModified = true
                _ = try await downloader.download(request)
                try require(modified.fields, in: origin.requests.last)
            }
        },
    ]

    /// Throws an error unless the request has exactly the values of these fields.
    private static func require(_ fields: HTTPFields, in request: OriginRequest?) throws {
        for name in Set(fields.map(\.name)) {
            let sent = request?.fields.values(of: name) ?? []
            try ConformanceFailure.require(sent == fields.values(of: name), "the field \(name) has the values \(sent)")
        }
    }

    /// The additional checks for downloaders that also load sources other than servers, as a pipeline's downloader
    /// does.
    public static let localSourceChecks: [ConformanceCheck<any Downloading>] = [
        Check("the content of bytes in memory is the bytes") { make in
            let source = ImageSource.bytes(content, identity: "a")
            let download = try await make(ConformanceOptions()).download(DownloadRequest(source))
            try ConformanceFailure.require(download.data == content, "the content differs from the bytes")
            try ConformanceFailure.require(download.head == nil, "the content has the head of a response")
        },
        Check("the content of a data URL is decoded") { make in
            for text in ["data:image/png;base64,\(content.base64EncodedString())", "data:image/png,%00%FFa"] {
                let expected = text.contains("base64") ? content : Data([0x00, 0xFF, 0x61])
                let data = try await make(ConformanceOptions()).download(DownloadRequest(.dataURL(text))).data
                try ConformanceFailure.require(data == expected, "the content differs from that of \(text.prefix(20))")
            }
        },
        Check("the content of a file is its bytes, and a missing file throws an error") { make in
            let file = FileManager.default.temporaryDirectory.appending(path: "alcedo-\(UUID().uuidString)")
            let downloader = try make(ConformanceOptions())
            try content.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let data = try await downloader.download(DownloadRequest(.file(file.path))).data
            try ConformanceFailure.require(data == content, "the content differs from the file")
            let missing = DownloadRequest(.file(file.path + "-missing"))
            _ = try await requireError(of: missing, by: downloader)
        },
        Check("the content of a closure is its result, and its error ends the download") { make in
            let downloader = try make(ConformanceOptions())
            let data = try await downloader.download(DownloadRequest(.provider(identity: "a") { content })).data
            try ConformanceFailure.require(data == content, "the content differs from the result of the closure")
            let failing = ImageSource.provider(identity: "b") { throw ConformanceFailure("the closure failed") }
            _ = try await requireError(of: DownloadRequest(failing), by: downloader)
        },
        Check("a decoded image has no bytes, which is an error") { make in
            let request = DownloadRequest(.image(.gray(side: 1), identity: "a"))
            _ = try await requireError(of: request, by: make(ConformanceOptions()))
        },
    ]
}
