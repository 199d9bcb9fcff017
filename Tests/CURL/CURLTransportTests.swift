import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CURLTransportTests {
    @Test(arguments: TransportConformance.checks)
    func `the libcurl transport passes each conformance check`(check: TransportConformance.Check) async throws {
        try await check { _ in CURLTransport() }
    }

    @Test func `a slow reader pauses the transfer and receives every byte`() async throws {
        let body = Data(repeating: 7, count: 8 << 20)
        let other = OriginReply(body: Data(repeating: 8, count: 1 << 20))
        let origin = try LoopbackOrigin { $0.path == "/other" ? other : OriginReply(body: body) }
        defer { origin.stop() }
        let transport = CURLTransport()
        let otherRequest = HTTPRequest(url: origin.url(for: "/other"), idleTimeout: .seconds(120))
        let response = try await transport.send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        var iterator = response.body.makeAsyncIterator()

        var pieces: [Int] = []
        while true {
            // The origin and the transport serve both transfers in turn. When the other one has ended, the pipe is
            // full, unless the body has ended.
            _ = try await transport.send(otherRequest).body.collect(limit: 1 << 20)
            guard let piece = try await iterator.next() else { break }
            pieces.append(piece.count)
        }

        #expect(pieces.reduce(0, +) == body.count)
        // The pipe accepts a piece that does not fit only when it is empty.
        #expect(pieces.allSatisfy { $0 <= HTTPBodyPipe.capacity })
        // The reader was slow: a waiting piece grew by the next ones until another did not fit.
        #expect(pieces.contains { $0 > HTTPBodyPipe.capacity / 2 })
    }

    @Test func `a body continues after its transport is released`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply(body: Data(repeating: 1, count: 2 << 20)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))

        let data = try await response.body.collect(limit: 4 << 20)

        #expect(data.count == 2 << 20)
    }

    @Test func `more requests than connections all receive their responses`() async throws {
        let origin = try LoopbackOrigin { OriginReply(body: Data($0.target.utf8)) }
        defer { origin.stop() }
        var options = CURLOptions()
        options.maxConcurrentTransfers = 2
        let transport = CURLTransport(options: options)

        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let response = try await transport.send(
                        HTTPRequest(url: origin.url(for: "/\(number)"), idleTimeout: .seconds(120)))
                    return String(decoding: try await response.body.collect(limit: 100), as: UTF8.self)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }

        #expect(bodies.count == 50)
        #expect(origin.state.connectionCount <= 2)
    }

    @Test func `a released transport ends its thread`() async throws {
        let origin = try LoopbackOrigin { _ in .text("x") }
        defer { origin.stop() }
        func threadCount() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        }
        let before = try threadCount()
        for _ in 0..<400 {
            let response = try await CURLTransport().send(
                HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
            _ = try await response.body.collect(limit: 10)
        }

        // Other tests start and end threads meanwhile.
        try await eventually { try threadCount() <= before + 100 }
    }

    @Test func `a request canceled before it begins leaves no transfer behind`() async throws {
        let origin = try LoopbackOrigin { _ in .endless() }
        defer { origin.stop() }
        let transport = CURLTransport()
        for round in 0..<300 {
            let hasBegun = Watched(false)
            let task = Task {
                hasBegun.update { $0 = true }
                return try await transport.send(HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))).head
                    .status
            }
            // Half of the cancellations come before the task begins, half while it sends the request.
            if round.isMultiple(of: 2) { try await hasBegun.waitUntil { $0 } }
            task.cancel()
            _ = await task.result
        }
        try await origin.waitUntil { $0.openConnectionCount == 0 }
    }

    @Test func `a slow response delays no other request to its server`() async throws {
        let origin = try LoopbackOrigin { request in .text(request.target).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let transport = CURLTransport()

        async let texts = withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let request = HTTPRequest(url: origin.url(for: "/\(number)"), idleTimeout: .seconds(120))
                    return try await transport.send(request).body.collect(limit: 100).count
                }
            }
            return try await group.reduce(0, +)
        }
        try await origin.waitForStalls(count: 8)
        origin.release()

        #expect(try await texts == 16)
    }
}
