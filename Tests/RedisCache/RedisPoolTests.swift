import AlcedoCore
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoRedisCache

/// With one connection, which the test holds, to a server that accepts connections and never replies.
@Suite(.timeLimit(.minutes(10)))
struct RedisPoolTests {
    private static let limit = Duration.seconds(1)

    private let directory: TemporaryDirectory
    private let listener: SilentSocket
    private let options: RedisOptions
    private let clock = ManualClock()
    private let pool: RedisPool
    private let gate = DispatchSemaphore(value: 0)
    private let ran = Watched(0)

    init() throws {
        directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "s").path
        listener = try SilentSocket(path: path)
        options = RedisOptions(
            address: .socket(path), maxConcurrentConnections: 1, connectTimeout: .seconds(60),
            responseTimeout: Self.limit,
            maximumFailureCount: 1)
        pool = RedisPool(options, clock: clock)
    }

    /// Takes the connection. When the gate opens, the call ends with the result of `end`.
    private func hold(
        _ end: @escaping @Sendable () throws -> String = { "held" }
    ) async -> Task<String?, any Error> {
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await pool.run { _ in
                begins.yield()
                gate.wait()
                return try end()
            }
        }
        for await _ in begun { break }
        return task
    }

    private func run() async throws -> String? {
        try await pool.run { _ in
            ran.update { $0 += 1 }
            return "ran"
        }
    }

    @Test func `a call whose turn comes after a failure is not sent`() async throws {
        let held = await hold { throw RedisFailure(kind: .timeout, message: "") }
        async let waiting = run()
        try await clock.waitForSleepers(count: 1)

        gate.signal()

        #expect(try await held.value == nil)
        #expect(try await waiting == nil)
        #expect(ran.value == 0)
        #expect(pool.isServerFailing)
        // After the delay the server is tried again.
        clock.advance(by: options.retryDelay)
        #expect(try await run() == "ran")
        #expect(!pool.isServerFailing)
    }

    @Test func `a call that waits longer than the reply time is a miss`() async throws {
        let held = await hold()
        async let waiting = run()
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: Self.limit)

        #expect(try await waiting == nil)
        gate.signal()
        #expect(try await held.value == "held")
        #expect(ran.value == 0)
        #expect(!pool.isServerFailing)
        #expect(try await run() == "ran")
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a waiting call continues in its turn, and a canceled one throws`() async throws {
        let held = await hold()
        let waiting = Task { try await run() }
        let cancelled = Task { try await run() }
        try await clock.waitForSleepers(count: 2)

        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.signal()

        #expect(try await held.value == "held")
        #expect(try await waiting.value == "ran")
        #expect(ran.value == 1)
    }

    @Test func `behind slow replies no more calls wait than can be served in time`() async throws {
        for _ in 0..<20 {
            _ = try await pool.run { [clock] _ in clock.advance(by: Self.limit * 0.9) }
        }
        let held = await hold()
        async let waiting = run()
        try await clock.waitForSleepers(count: 1)

        // At once, because the clock is not advanced.
        for _ in 0..<5 { #expect(try await run() == nil) }

        gate.signal()
        #expect(try await held.value == "held")
        #expect(try await waiting == "ran")
        #expect(ran.value == 1)
    }

    @Test func `a mandatory call waits for its turn`() async throws {
        let held = await hold()
        let removal = Task.immediate { await pool.runToEnd { _ in "removed" } }
        async let waiting = run()
        // The other call has begun to wait, so its limit elapses below.
        try await clock.waitForSleepers(count: 1)

        removal.cancel()
        clock.advance(by: Self.limit * 100)

        #expect(try await waiting == nil)
        gate.signal()
        #expect(try await held.value == "held")
        #expect(await removal.value == "removed")
        #expect(ran.value == 0)
    }

    @Test func `a late reply on a kept connection is awaited once more, on a new connection`() async throws {
        #expect(try await run() == "ran")
        let silent = try await pool.run { _ -> Int in
            ran.update { $0 += 1 }
            throw RedisFailure(kind: .timeout, message: "")
        }
        #expect(silent == nil)
        #expect(ran.value == 3)
        #expect(listener.connectionCount() == 2)
        #expect(pool.isServerFailing)
    }

    @Test func `a mandatory call is not repeated after a timeout`() async throws {
        #expect(try await run() == "ran")
        let silent = await pool.runToEnd { _ -> Int in
            ran.update { $0 += 1 }
            throw RedisFailure(kind: .timeout, message: "")
        }
        #expect(silent == nil)
        #expect(ran.value == 2)
        #expect(listener.connectionCount() == 1)
        #expect(pool.isServerFailing)
    }

    @Test func `a connection distinguishes a timeout from its end`() async throws {
        var options = options
        options.responseTimeout = .milliseconds(1)
        let connection = try RedisConnection(options)
        func failure() -> RedisFailure.Kind? {
            do throws(RedisFailure) {
                _ = try connection.execute([[Data("PING".utf8)]])
                return nil
            } catch {
                return error.kind
            }
        }
        #expect(failure() == .timeout)
        let ended = try RedisConnection(self.options)
        #expect(listener.connectionCount() == 2)
        #expect {
            _ = try ended.execute([[Data("PING".utf8)]])
        } throws: {
            ($0 as? RedisFailure)?.kind == .connection
        }
    }
}
