import AlcedoCore
public import AlcedoHTTP
import FoundationEssentials

/// The contract of ``/AlcedoHTTP/HTTPTransport``, tested over real sockets. Most checks use a ``LoopbackOrigin``. One
/// check requests a host name that does not exist.
///
/// A check waits as long as the transport does, and up to 30 seconds for the end of a connection. With a time limit,
/// the test of a transport that never ends an exchange fails:
///
/// ```swift
/// import AlcedoTesting
/// import Testing
///
/// @Test(.timeLimit(.minutes(10)), arguments: TransportConformance.checks)
/// func conforms(to check: TransportConformance.Check) async throws {
///     try await check { _ in MyTransport() }
/// }
/// ```
public enum TransportConformance: ConformanceKit {
    private static func bytes(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 >> 3) })
    }

    /// Returns a GET with a long idle timeout. When many tests share few threads, a task may wait long until it runs.
    private static func patient(_ url: URL) -> HTTPRequest { HTTPRequest(url: url, idleTimeout: .seconds(120)) }

    /// Runs `body` with a new origin and transport, and stops the origin afterwards.
    private static func with(
        _ make: Check.Factory,
        _ handler: @escaping @Sendable (OriginRequest) -> OriginReply,
        _ body: (any HTTPTransport, LoopbackOrigin) async throws -> Void
    ) async throws {
        let origin = try LoopbackOrigin(handler: handler)
        defer { origin.stop() }
        try await body(make(ConformanceOptions()), origin)
    }

    /// Throws an error unless receiving the complete response fails with one of `codes`.
    private static func requireFailure(
        _ codes: Set<HTTPTransportError.Code>, of request: HTTPRequest, over transport: any HTTPTransport
    ) async throws {
        do {
            let response = try await transport.send(request)
            let data = try await response.body.collect(limit: 1 << 20)
            throw ConformanceFailure("no error was thrown: status \(response.head.status), \(data.count) bytes")
        } catch let error as HTTPTransportError {
            try ConformanceFailure.require(codes.contains(error.code), "the error has the code \(error.code): \(error)")
        }
    }

    /// All checks of the contract, for a parameterized test.
    public static let checks: [ConformanceCheck<any HTTPTransport>] = exchanges + failures + timeouts + cancellations

    private static let exchanges: [Check] = [
        Check("a response arrives with its status, fields and body") { make in
            let body = bytes(300_000)
            let reply = OriginReply(fields: ["X-One": "1", "x-two": "a, b"], body: body)
            try await with(make, { _ in reply }) { transport, origin in
                let response = try await transport.send(HTTPRequest(url: origin.url(for: "/a?b=c")))
                try ConformanceFailure.require(response.head.status == 200, "status \(response.head.status)")
                try ConformanceFailure.require(response.head.fields["x-ONE"] == "1", "a field is missing")
                try ConformanceFailure.require(response.head.fields["X-Two"] == "a, b", "a field was changed")
                let received = try await response.body.collect(limit: 1 << 20)
                try ConformanceFailure.require(received == body, "the body differs from what was sent")
                try ConformanceFailure.require(
                    origin.requests.first?.target == "/a?b=c", "the request had another target")
            }
        },
        Check("the method, fields and body reach the server") { make in
            try await with(make, { _ in OriginReply(status: 201) }) { transport, origin in
                let request = HTTPRequest(
                    method: .post, url: origin.url(for: "/p"), fields: ["X-Name": "value"], body: Data("hello".utf8))
                let response = try await transport.send(request)
                _ = try await response.body.collect(limit: 100)
                let sent = origin.requests.first
                try ConformanceFailure.require(sent?.method == .post, "method \(String(describing: sent?.method))")
                try ConformanceFailure.require(sent?.fields["X-Name"] == "value", "a field is missing")
                try ConformanceFailure.require(sent?.body == Data("hello".utf8), "the body is missing")
            }
        },
        Check("a redirect is returned, not followed") { make in
            try await with(make, { _ in .redirect(to: "/elsewhere") }) { transport, origin in
                let response = try await transport.send(HTTPRequest(url: origin.url(for: "/here")))
                response.body.cancel()
                try ConformanceFailure.require((300..<400).contains(response.head.status), "followed")
                try ConformanceFailure.require(response.head.fields["Location"] != nil, "the Location field is missing")
                try ConformanceFailure.require(
                    origin.requests.count == 1, "\(origin.requests.count) requests were sent")
            }
        },
        Check("an error status is returned as a response") { make in
            try await with(make, { _ in OriginReply(status: 404, body: Data("none".utf8)) }) { transport, origin in
                let response = try await transport.send(patient(origin.url(for: "/a")))
                let body = try await response.body.collect(limit: 100)
                try ConformanceFailure.require(response.head.status == 404, "status \(response.head.status)")
                try ConformanceFailure.require(body == Data("none".utf8), "the body is missing")
            }
        },
        Check("a chunked body arrives completely") { make in
            let body = bytes(50_000)
            try await with(make, { _ in OriginReply(body: body, framing: .chunked(size: 777)) }) { transport, origin in
                let response = try await transport.send(patient(origin.url(for: "/a")))
                let received = try await response.body.collect(limit: 1 << 20)
                try ConformanceFailure.require(received == body, "the body differs from what was sent")
            }
        },
        Check("a response to HEAD has fields and no body") { make in
            try await with(make, { _ in OriginReply(body: bytes(1000)) }) { transport, origin in
                let response = try await transport.send(HTTPRequest(method: .head, url: origin.url(for: "/a")))
                let body = try await response.body.collect(limit: 10)
                try ConformanceFailure.require(body.isEmpty, "the body has \(body.count) bytes")
                try ConformanceFailure.require(response.head.fields["Content-Length"] == "1000", "a field is missing")
            }
        },
        Check("the head is returned before the body is complete") { make in
            var reply = OriginReply(body: bytes(1000))
            reply.stalls = [.afterBody(500)]
            try await with(make, { [reply] _ in reply }) { transport, origin in
                let request = patient(origin.url(for: "/a"))
                let response = try await ConformanceFailure.require("the head is not returned") {
                    try await transport.send(request)
                }
                try ConformanceFailure.require(response.head.status == 200, "status \(response.head.status)")
                origin.release()
                let received = try await response.body.collect(limit: 1 << 20)
                try ConformanceFailure.require(received == bytes(1000), "the body differs from what was sent")
            }
        },
        Check("connections are reused") { make in
            let reply = OriginReply(body: bytes(100))
            try await with(make, { _ in reply }) { transport, origin in
                for _ in 0..<20 {
                    let response = try await transport.send(patient(origin.url(for: "/a")))
                    _ = try await response.body.collect(limit: 1000)
                }
                let used = Set(origin.requests.map(\.connection)).count
                try ConformanceFailure.require(used <= 3, "\(used) connections were used for 20 sequential requests")
            }
        },
        Check("each of a hundred concurrent requests receives its own response") { make in
            try await with(make, { OriginReply(body: Data($0.target.utf8)) }) { transport, origin in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let response = try await transport.send(HTTPRequest(url: origin.url(for: "/\(number)")))
                            let body = try await response.body.collect(limit: 100)
                            try ConformanceFailure.require(
                                body == Data("/\(number)".utf8), "the response belongs to another request")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        },
        Check("a body longer than declared ends at the declared length") { make in
            let reply = OriginReply(body: bytes(1000), framing: .declaredLength(500))
            try await with(make, { _ in reply }) { transport, origin in
                let response = try await transport.send(patient(origin.url(for: "/a")))
                let received = try await response.body.collect(limit: 1 << 20)
                try ConformanceFailure.require(received == bytes(500), "the body has \(received.count) bytes")
            }
        },
        Check("a Content-Length beside a Transfer-Encoding is removed") { make in
            let reply = OriginReply(
                fields: ["Transfer-Encoding": "chunked", "Content-Length": "3"], body: bytes(1000),
                framing: .chunked(size: 300))
            try await with(make, { _ in reply }) { transport, origin in
                let response = try await transport.send(patient(origin.url(for: "/a")))
                let received = try await response.body.collect(limit: 1 << 20)
                try ConformanceFailure.require(received == bytes(1000), "the body has \(received.count) bytes")
                try ConformanceFailure.require(
                    response.head.fields["Content-Length"] == nil, "Content-Length is present")
            }
        },
        Check("metrics, if the transport measures them, are available when the body has ended") { make in
            let reply = OriginReply(body: bytes(1000)).stalling(at: .afterBody(500))
            try await with(make, { _ in reply }) { transport, origin in
                let response = try await transport.send(patient(origin.url(for: "/a")))
                try ConformanceFailure.require(response.metrics == nil, "the metrics are available before the end")
                origin.release()
                _ = try await response.body.collect(limit: 1 << 20)
                guard let metrics = response.metrics else { return }
                guard let total = metrics.total else { throw ConformanceFailure("the total time is missing") }
                try ConformanceFailure.require(
                    metrics.firstByte.map { $0 <= total } ?? true, "the first byte is later than the end")
            }
        },
    ]

    private static let failures: [Check] = [
        Check("a body shorter than declared throws an error") { make in
            let reply = OriginReply(body: bytes(500), framing: .declaredLength(1000))
            try await with(make, { _ in reply }) { transport, origin in
                try await requireFailure(
                    [.connectionLost], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("an invalid Content-Length and two different ones throw errors") { make in
            for lines in ["3x", "3, 5", "5\r\nContent-Length: 3"] {
                let text = "HTTP/1.1 200 OK\r\nContent-Length: \(lines)\r\n\r\nhello"
                try await with(make, { _ in .raw(Data(text.utf8)) }) { transport, origin in
                    try await requireFailure(
                        [.invalidResponse], of: patient(origin.url(for: "/a")), over: transport)
                }
            }
        },
        Check("a connection closed in the body throws an error") { make in
            var reply = OriginReply(body: bytes(100_000))
            reply.cut = OriginReply.Cut(.afterBody(50_000))
            try await with(make, { [reply] _ in reply }) { transport, origin in
                try await requireFailure(
                    [.connectionLost], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("a truncated chunked body throws an error") { make in
            var reply = OriginReply(body: bytes(100_000), framing: .chunked(size: 1000))
            reply.cut = OriginReply.Cut(.afterBody(50_000))
            try await with(make, { [reply] _ in reply }) { transport, origin in
                try await requireFailure(
                    [.connectionLost, .invalidResponse], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("an invalid chunk throws an error") { make in
            let reply = OriginReply(body: bytes(10_000), framing: .chunked(size: 1000, badAfter: 5000))
            try await with(make, { _ in reply }) { transport, origin in
                try await requireFailure(
                    [.connectionLost, .invalidResponse], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("a connection reset in the body throws an error") { make in
            let reply = OriginReply(body: bytes(100_000)).cutting(at: .afterBody(50_000), .reset)
            try await with(make, { _ in reply }) { transport, origin in
                try await requireFailure([.connectionLost], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("a connection closed before the head throws an error") { make in
            var reply = OriginReply()
            reply.cut = OriginReply.Cut(.beforeHead)
            try await with(make, { [reply] _ in reply }) { transport, origin in
                try await requireFailure(
                    [.connectionLost], of: patient(origin.url(for: "/a")), over: transport)
            }
        },
        Check("a refused connection throws an error") { make in
            let closedPort = try ClosedPort()
            defer { closedPort.free() }
            try await requireFailure([.cannotConnect], of: patient(closedPort.url), over: make(ConformanceOptions()))
        },
        Check("a host name without an address throws an error") { make in
            guard let url = URL(string: "http://nobody.invalid/") else { return }
            // Without a network, the transport may report that it is offline instead.
            try await requireFailure(
                [.cannotResolveHost, .offline], of: patient(url), over: make(ConformanceOptions()))
        },
        Check("a scheme other than HTTP is rejected") { make in
            guard let url = URL(string: "file:///etc/hostname") else { return }
            try await requireFailure([.invalidRequest], of: HTTPRequest(url: url), over: make(ConformanceOptions()))
        },
        Check("a field with a line break is rejected") { make in
            try await with(make, { _ in OriginReply() }) { transport, origin in
                let request = HTTPRequest(url: origin.url(for: "/a"), fields: ["X-A": "1\r\nX-B: 2"])
                try await requireFailure([.invalidRequest], of: request, over: transport)
                try ConformanceFailure.require(origin.requests.isEmpty, "a request was sent")
            }
        },
    ]

    private static let timeouts: [Check] = [
        Check("a server that sends nothing causes an idle timeout") { make in
            try await requireTimeout(make, .status(200).stalling(at: .beforeHead)) { $0.idleTimeout = .seconds(1) }
        },
        Check("a server that stalls in the body causes an idle timeout") { make in
            let reply = OriginReply(body: bytes(1000)).stalling(at: .afterBody(500))
            try await requireTimeout(make, reply) { $0.idleTimeout = .seconds(1) }
        },
        Check("a response after the first-byte timeout throws an error") { make in
            try await requireTimeout(make, .status(200).stalling(at: .beforeHead)) {
                $0.firstByteTimeout = .milliseconds(300)
            }
        },
        Check("a transfer beyond the total timeout throws an error") { make in
            let reply = OriginReply(body: bytes(1000)).stalling(at: .afterBody(500))
            try await requireTimeout(make, reply) { $0.totalTimeout = .milliseconds(700) }
        },
    ]

    private static func requireTimeout(
        _ make: Check.Factory, _ reply: OriginReply, _ change: (inout HTTPRequest) -> Void
    ) async throws {
        try await with(make, { _ in reply }) { transport, origin in
            var request = patient(origin.url(for: "/a"))
            change(&request)
            try await requireFailure([.timedOut], of: request, over: transport)
            try await ConformanceFailure.requireDisconnect(from: origin)
        }
    }

    private static let cancellations: [Check] = [
        Check("canceling before the head ends the request with CancellationError") { make in
            var reply = OriginReply()
            reply.stalls = [.beforeHead]
            try await with(make, { [reply] _ in reply }) { transport, origin in
                let request = patient(origin.url(for: "/a"))
                let task = Task { try await transport.send(request).head.status }
                try await origin.waitForRequest()
                task.cancel()
                try await ConformanceFailure.requireCancellation(of: task)
                try await ConformanceFailure.requireDisconnect(from: origin)
            }
        },
        Check("canceling in the body ends the transfer with CancellationError") { make in
            var reply = OriginReply(body: bytes(100_000))
            reply.stalls = [.afterBody(50_000)]
            try await with(make, { [reply] _ in reply }) { transport, origin in
                let request = patient(origin.url(for: "/a"))
                let task = Task { try await transport.send(request).body.collect(limit: 1 << 20).count }
                try await origin.waitForStalls()
                task.cancel()
                try await ConformanceFailure.requireCancellation(of: task)
                try await ConformanceFailure.requireDisconnect(from: origin)
            }
        },
        Check("releasing the body ends the transfer") { make in
            var reply = OriginReply(body: bytes(100_000))
            reply.stalls = [.afterBody(50_000)]
            try await with(make, { [reply] _ in reply }) { transport, origin in
                _ = try await transport.send(patient(origin.url(for: "/a"))).head
                try await ConformanceFailure.requireDisconnect(from: origin)
            }
        },
        Check("an endless body ends when its reader stops") { make in
            try await with(make, { _ in .endless() }) { transport, origin in
                try await requireFailure([.bodyTooLarge], of: patient(origin.url(for: "/a")), over: transport)
                try await ConformanceFailure.requireDisconnect(from: origin)
            }
        },
        Check("a task that is already canceled receives no response") { make in
            try await with(make, { _ in OriginReply() }) { transport, origin in
                let request = patient(origin.url(for: "/a"))
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await transport.send(request).head.status
                }
                try await ConformanceFailure.requireCancellation(of: task)
            }
        },
        Check("each randomly canceled request has exactly one outcome") { make in
            // The reply is created once. Creating it 200 times on the origin's only thread would delay the last
            // responses.
            let reply = OriginReply(body: bytes(20_000))
            try await with(make, { _ in reply }) { transport, origin in
                // The last requests wait for the others, so the idle timeout is long.
                let request = HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(300))
                let tasks = (0..<200).map { number in
                    let task = Task {
                        try await transport.send(request).body.collect(limit: 1 << 20).count
                    }
                    if number % 3 == 0 { task.cancel() }
                    return task
                }
                for (number, task) in tasks.enumerated() {
                    if number % 3 == 1 { task.cancel() }
                    do {
                        let count = try await task.value
                        try ConformanceFailure.require(count == 20_000, "no error was thrown after \(count) bytes")
                    } catch is CancellationError {
                        try ConformanceFailure.require(
                            number % 3 != 2, "a request that was not canceled threw CancellationError")
                    }
                }
            }
        },
    ]
}
