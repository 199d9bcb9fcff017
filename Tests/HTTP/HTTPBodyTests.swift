import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTPBodyTests {
    /// Sends pieces of one length without end, and counts them.
    private final class Endless: HTTPBodySource {
        let reads = Watched(0)
        let cancels = Watched(0)

        func next() async throws -> Data? {
            reads.update { $0 += 1 }
            return Data(count: 10)
        }

        func cancel() { cancels.update { $0 += 1 } }
    }

    @Test func `a body in memory is read once`() async throws {
        let body = HTTPBody(Data([1, 2, 3]))
        #expect(try await body.collect(limit: 3) == Data([1, 2, 3]))
        #expect(try await body.collect(limit: 3) == Data())
        #expect(try await HTTPBody(Data()).collect(limit: 0) == Data())
    }

    @Test func `collecting stops at the limit and ends the transfer`() async throws {
        let source = Endless()
        let body = HTTPBody(source)

        let error = await #expect(throws: HTTPTransportError.self) { try await body.collect(limit: 95) }

        #expect(error?.code == .bodyTooLarge)
        #expect(source.reads.value == 10)
        #expect(source.cancels.value == 1)
    }

    @Test func `a body of exactly the limit is complete`() async throws {
        #expect(try await HTTPBody(Data(count: 100)).collect(limit: 100).count == 100)
        await #expect(throws: HTTPTransportError.self) { try await HTTPBody(Data(count: 101)).collect(limit: 100) }
    }

    @Test func `an in-memory body canceled before reading throws`() async throws {
        let unread = HTTPBody(Data([1]))
        unread.cancel()
        await #expect(throws: CancellationError.self) { try await unread.collect(limit: 10) }

        let read = HTTPBody(Data([1]))
        _ = try await read.collect(limit: 10)
        read.cancel()
        #expect(try await read.collect(limit: 10) == Data())
    }

    @Test func `a canceled task does not read an in-memory body`() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await HTTPBody(Data([1])).collect(limit: 10)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `the transfer ends with the last copy of the body, including iterators`() async throws {
        let source = Endless()
        var iterator: HTTPBody.Iterator?
        do {
            let body = HTTPBody(source)
            let copy = body
            iterator = copy.makeAsyncIterator()
        }
        #expect(source.cancels.value == 0)
        _ = try await iterator?.next()
        iterator = nil
        #expect(source.cancels.value == 1)
    }
}
