import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTPBodyPipeTests {
    private struct Failure: Error {}

    private let spaces = Watched(0)
    private let cancels = Watched(0)
    private let pipe: HTTPBodyPipe

    init() {
        pipe = HTTPBodyPipe(
            onSpace: { [spaces] in spaces.update { $0 += 1 } }, onCancel: { [cancels] in cancels.update { $0 += 1 } })
    }

    private func write(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { pipe.write($0) } }

    private func write(count: Int) -> Bool { write([UInt8](repeating: 1, count: count)) }

    @Test func `bytes written since the last read arrive in one piece`() async throws {
        #expect(write([1, 2]))
        #expect(write([]))
        #expect(write([3]))
        #expect(try await pipe.next() == Data([1, 2, 3]))

        #expect(write([4]))
        pipe.finish()
        #expect(try await pipe.next() == Data([4]))
        #expect(try await pipe.next() == nil)
        #expect(try await pipe.next() == nil)
    }

    @Test func `a second reading task receives an error, and the first its bytes`() async throws {
        let first = Task.immediate { try await pipe.next() }
        await #expect(throws: HTTPTransportError.self) { try await pipe.next() }
        #expect(write([1]))
        #expect(try await first.value == Data([1]))
    }

    @Test func `a declared length does not affect the bytes, whether it is right or wrong`() async throws {
        for announced in [0, 3, 5, 1 << 40] {
            let pipe = HTTPBodyPipe(onSpace: {}, onCancel: {})
            pipe.expect(announced)
            #expect([1, 2].withUnsafeBytes { pipe.write($0) })
            #expect([3, 4, 5].withUnsafeBytes { pipe.write($0) })
            pipe.finish()
            let expected = [1, 2, 3, 4, 5].withUnsafeBytes { Data($0) }
            #expect(try await pipe.next() == expected)
            #expect(try await pipe.next() == nil)
        }
    }

    @Test func `a waiting reader is resumed by bytes, by the end and by an error`() async throws {
        let bytes = Task.immediate { try await pipe.next() }
        #expect(write([1]))
        #expect(try await bytes.value == Data([1]))

        let end = Task.immediate { try await pipe.next() }
        pipe.finish()
        #expect(try await end.value == nil)

        let other = HTTPBodyPipe(onSpace: {}, onCancel: {})
        let error = Task.immediate { try await other.next() }
        other.finish(Failure())
        await #expect(throws: Failure.self) { try await error.value }
    }

    @Test func `a full pipe refuses a whole piece and reports when there is space`() async throws {
        #expect(write(count: HTTPBodyPipe.capacity - 10))
        #expect(write(count: 10))
        #expect(!write(count: 1))
        #expect(!write(count: 1))
        #expect(spaces.value == 0)

        #expect(try await pipe.next()?.count == HTTPBodyPipe.capacity)

        #expect(spaces.value == 1)
        #expect(write(count: 1))
        #expect(try await pipe.next()?.count == 1)
        #expect(spaces.value == 1)
    }

    @Test func `a piece larger than the pipe is accepted only when the pipe is empty`() async throws {
        #expect(write(count: 1))
        #expect(!write(count: 2 * HTTPBodyPipe.capacity))
        #expect(try await pipe.next()?.count == 1)
        #expect(write(count: 2 * HTTPBodyPipe.capacity))
        #expect(try await pipe.next()?.count == 2 * HTTPBodyPipe.capacity)
    }

    @Test func `bytes before an error are read first, and the first end counts`() async throws {
        #expect(write([1]))
        pipe.finish(Failure())
        pipe.finish()
        pipe.finish(CancellationError())
        #expect(write([2]), "a writer that comes late is not kept waiting")

        #expect(try await pipe.next() == Data([1]))
        await #expect(throws: Failure.self) { try await pipe.next() }
        await #expect(throws: Failure.self) { try await pipe.next() }
        #expect(cancels.value == 0)
    }

    @Test func `canceling resumes the reader, notifies the writer once and drops later bytes`() async throws {
        let reader = Task.immediate { try await pipe.next() }

        pipe.cancel()
        pipe.cancel()

        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(cancels.value == 1)
        #expect(write(count: 2 * HTTPBodyPipe.capacity))
        pipe.finish()
        await #expect(throws: CancellationError.self) { try await pipe.next() }
    }

    @Test func `a complete body that was not read to its end throws after a cancellation`() async throws {
        #expect(write([1]))
        pipe.finish()

        pipe.cancel()

        await #expect(throws: CancellationError.self) { try await pipe.next() }
        #expect(cancels.value == 0)
    }

    @Test func `canceling after the last byte was read changes nothing`() async throws {
        #expect(write([1]))
        pipe.finish()
        _ = try await pipe.next()

        pipe.cancel()

        #expect(try await pipe.next() == nil)
        #expect(cancels.value == 0)
    }

    @Test func `canceling the waiting task ends the transfer`() async throws {
        let reader = Task.immediate { try await pipe.next() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(cancels.value == 1)
    }

    @Test func `a task canceled before it reads ends the transfer`() async throws {
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pipe.next()
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(cancels.value == 1)
    }

    @Test func `releasing the body ends the transfer, and reading it to the end does not`() async throws {
        do {
            let body = HTTPBody(pipe)
            #expect(write([1]))
            var iterator = body.makeAsyncIterator()
            #expect(try await iterator.next() == Data([1]))
            #expect(cancels.value == 0)
        }
        #expect(cancels.value == 1)
    }

    @Test func `a fast writer and a slow reader transfer every byte in order`() async throws {
        let space = DispatchSemaphore(value: 0)
        let writer = Watched((isAhead: false, isDone: false))
        let pipe = HTTPBodyPipe(
            onSpace: {
                writer.update { $0.isAhead = false }
                space.signal()
            }, onCancel: {})
        let piece = 7919
        let message = [UInt8]((0..<piece * 400).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16) })
        LoopThread.start {
            message.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    while !pipe.write(UnsafeRawBufferPointer(rebasing: bytes[start..<start + piece])) {
                        writer.update { $0.isAhead = true }
                        space.wait()
                    }
                }
            }
            pipe.finish()
            writer.update { $0.isDone = true }
        }

        let body = HTTPBody(pipe)
        var received = Data()
        for try await part in body {
            #expect(!part.isEmpty)
            #expect(part.count <= HTTPBodyPipe.capacity)
            received.append(part)
            try await writer.waitUntil { $0.isAhead || $0.isDone }
        }

        #expect(received == Data(message))
    }

    @Test func `canceling while bytes arrive always resumes the reader`() async throws {
        for round in 0..<300 {
            let pipe = HTTPBodyPipe(onSpace: {}, onCancel: {})
            let reader = Task { try await HTTPBody(pipe).collect(limit: 1000) }
            let writeCount = Watched(0)
            let writer = Task {
                for _ in 0..<5 {
                    _ = [UInt8](repeating: 0, count: 100).withUnsafeBytes { pipe.write($0) }
                    writeCount.update { $0 += 1 }
                }
                pipe.finish()
            }
            try await writeCount.waitUntil { $0 >= round % 6 }
            reader.cancel()
            do {
                #expect(try await reader.value.count == 500)
            } catch is CancellationError {}
            await writer.value
        }
    }
}
