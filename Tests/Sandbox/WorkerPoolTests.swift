#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import AlcedoTesting
    import CSandboxShim
    import Foundation
    import TestSupport
    import Testing

    @testable import AlcedoSandbox

    /// Threads that may block, for calls of decoders.
    enum Threads {
        private static let executor = BlockingExecutor(name: "sandbox tests", maxConcurrent: 4)

        static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
            // The tests cancel no task, so the only error is impossible.
            guard let value = try? await executor.run(work) else { preconditionFailure("the test was canceled") }
            return value
        }
    }

    extension SandboxTests {
        @Suite struct WorkerPoolTests {
            @Test func `workers are replaced after their number of requests`() throws {
                let sandbox = try Sandbox.testing { $0.requestsPerWorker = 2 }

                for side in 1...10 { try sandbox.checkOrdinaryImage(side: side) }
                sandbox.shutDown()

                #expect(sandbox.statistics.recycledWorkers == 5)
                #expect(Workers.ids.isEmpty)
            }

            @Test func `a worker whose memory has grown is replaced`() throws {
                let sandbox = try Sandbox.testing { $0.maximumGrowthByteCount = 48 << 20 }
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "leak")?.code == .unsupportedVariant)
                #expect(sandbox.statistics.recycledWorkers == 0)
                #expect(sandbox.error(of: "leak")?.code == .unsupportedVariant)
                #expect(sandbox.statistics.recycledWorkers == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a worker whose decoder gave up after its time is replaced`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "surrender")?.code == .timedOut)

                #expect(sandbox.statistics.recycledWorkers == 1)
                #expect(sandbox.statistics.timeouts == 0)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a worker whose address space is almost full is replaced`() throws {
                let sandbox = try Sandbox.testing { $0.maximumMemoryByteCount = 256 << 20 }
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "reserve")?.code == .unsupportedVariant)
                #expect(sandbox.statistics.recycledWorkers == 1)
                try sandbox.checkOrdinaryImage()
            }

            /// Starts a worker without a pool.
            private static func start() throws -> (SharedMemory, WorkerFiles) {
                let configuration = try SandboxConfiguration.testing()
                let memory = try SharedMemory(
                    input: InputLayout(capacity: configuration.maximumInputByteCount).byteCount,
                    output: OutputLayout(capacity: configuration.maximumOutputByteCount).byteCount)
                let files = try WorkerFiles(memory, configuration)
                _ = try files.receiveReady()
                return (memory, files)
            }

            // Without WNOWAIT, the number of the process is free before the sandbox uses the worker again.
            @Test(arguments: [WEXITED | WNOWAIT, WEXITED])
            func `idle workers that were killed cost no image`(options: Int32) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                try sandbox.checkOrdinaryImage()

                for id in Workers.ids {
                    kill(id, SIGKILL)
                    var info = siginfo_t()
                    waitid(P_PID, id_t(id), &info, options)
                }

                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.lostWorkers == 1)
                #expect(sandbox.statistics.crashes == 0)
            }

            @Test func `idle workers that were killed are replaced when the statistics are read`() async throws {
                let sandbox = try Sandbox.testing(workers: 2)
                defer { sandbox.shutDown() }
                try await eventually { sandbox.statistics.startedWorkers == 2 }
                let ids = Workers.ids

                for id in ids { kill(id, SIGKILL) }

                try await eventually { sandbox.statistics.lostWorkers == 2 && sandbox.statistics.startedWorkers == 4 }
                #expect(ids.allSatisfy { Workers.field("State", of: $0) == nil })
                try sandbox.checkOrdinaryImage()
            }

            @Test func `an idle worker that was killed is replaced when another one is replaced`() async throws {
                let sandbox = try Sandbox.testing(workers: 2) { $0.requestsPerWorker = 1 }
                defer { sandbox.shutDown() }
                // The first worker is idle when the second one starts. Requests use the second one.
                let first = try #require(Workers.ids.min())
                try await eventually { sandbox.statistics.startedWorkers == 2 }
                kill(first, SIGKILL)
                try await eventually { Workers.field("State", of: first)?.hasPrefix("Z") == true }

                try sandbox.checkOrdinaryImage()

                try await eventually { Workers.field("State", of: first) == nil }
            }

            @Test(arguments: [false, true])
            func `the end of a worker tells who has killed it`(isForeign: Bool) throws {
                let (memory, files) = try Self.start()
                defer { memory.unmap() }
                if isForeign { kill(try #require(Workers.ids.first), SIGKILL) }

                #expect(files.end(within: isForeign ? 60_000 : 0) == (isForeign ? SIGKILL : -1))
            }

            @Test func `a process that may be a worker cannot have workers`() {
                for arguments in [[], ["app", "--alcedo-sandbox-worker", "1,1,1,1"]] {
                    let error = #expect(throws: SandboxError.self) { try SandboxWorker.checkIsApp(arguments) }
                    #expect(error?.code == .cannotStart)
                }
                #expect(throws: Never.self) { try SandboxWorker.checkIsApp(["app"]) }
            }

            @Test func `a sandbox that is shut down throws`() throws {
                let sandbox = try Sandbox.testing(workers: 3)

                sandbox.shutDown()

                #expect(sandbox.error(of: "gray 3")?.code == .decoderUnavailable)
                #expect(Workers.ids.isEmpty)
            }

            @Test func `a sandbox whose program was removed has no decoder, until the program is back`() throws {
                let directory = try TemporaryDirectory()
                let link = directory.path + "/worker"
                let program = try ChildProcess.path(of: "sandbox-test-worker")
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program)
                let sandbox = try Sandbox.testing {
                    $0.executable = link
                    $0.requestsPerWorker = 1
                }
                defer { sandbox.shutDown() }
                try FileManager.default.removeItem(atPath: link)

                try sandbox.checkOrdinaryImage()
                #expect(sandbox.error(of: "gray 3")?.code == .decoderUnavailable)

                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program)
                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.crashes == 0)
            }

            @Test func `a request waits as long as those before it can take`() {
                var state = PoolState(maximumCount: 2)
                let waiters = (0..<5).map { _ in Waiter() }
                var rounds: [Int] = []
                for waiter in waiters {
                    if case .wait(_, let count) = state.admit(waiter, preferring: nil) { rounds.append(count) }
                }

                #expect(rounds == [1, 1, 2, 2, 3])
            }

            @Test func `a waiter leaves the list once`() {
                var state = PoolState(maximumCount: 1)
                let waiter = Waiter()
                _ = state.admit(waiter, preferring: nil)

                let outcome = waiter.wait(within: .zero)
                let wasWaiting = [state.abandon(waiter), state.abandon(waiter)]
                let rest = state.remove()

                #expect(outcome == nil)
                #expect(wasWaiting == [true, false])
                #expect(rest.isEmpty)
            }

            @Test func `a request that finds no idle worker in time is an error`() throws {
                let sandbox = try Sandbox.testing {
                    $0.timeLimit = .seconds(1)
                    $0.startLimit = .seconds(3)
                }
                defer { sandbox.shutDown() }
                let consumer = DecodingConsumer(sandbox)

                try SandboxedDecoder(.hostile, in: sandbox)
                    .decodeRows(Data("rows 4".utf8), options: DecodingOptions(), into: consumer)

                #expect(consumer.code == .decoderUnavailable)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a worker whose decoder sleeps ends with the app`() async throws {
                let (memory, files) = try Self.start()
                defer { memory.unmap() }
                let id = try #require(Workers.ids.first)
                let (name, data) = (Data("hostile".utf8), Data("sleep".utf8))
                let image = UnsafeMutableRawBufferPointer(rebasing: memory.input[InputLayout.dataOffset...])
                name.withUnsafeBytes { memory.input.copyMemory(from: $0) }
                data.withUnsafeBytes { image.copyMemory(from: $0) }
                var request = alcedo_sandbox_request(.open, DecodingOptions())
                (request.name_count, request.input_count) = (UInt64(name.count), UInt64(data.count))
                #expect(try files.send(request))
                #expect(try files.send(alcedo_sandbox_request(.decode, DecodingOptions())))

                // The socket of an app that has ended is closed.
                shutdown(files.socket, Int32(SHUT_RDWR))

                try await eventually { Workers.field("State", of: id)?.hasPrefix("Z") == true }
                #expect(files.end() == 256)
            }

            @Test func `a released sandbox ends its workers`() async throws {
                var sandbox: Sandbox? = try Sandbox.testing(workers: 2)
                try sandbox?.checkOrdinaryImage()

                sandbox = nil

                try await eventually { Workers.ids.isEmpty && Workers.descriptorCount == 0 }
            }

            @Test func `every outcome is right when one image in ten crashes, and nothing leaks`() async throws {
                let count = TestLength.rounds(300, full: 10_000)
                #expect(Workers.descriptorCount == 0)
                let sandbox = try Sandbox.testing(workers: 2) { $0.requestsPerWorker = 100 }
                try sandbox.checkOrdinaryImage()
                let before = ResidentMemory.byteCount

                let wrong = await withTaskGroup(of: Int.self) { group in
                    for index in 0..<count {
                        group.addTask {
                            await Threads.run {
                                if index % 10 == 3 {
                                    return sandbox.error(of: "segfault")?.code == .decoderFailed ? 0 : 1
                                }
                                let data = Data("gray \(index % 200 + 1)".utf8)
                                let image = try? SandboxedDecoder(.hostile, in: sandbox)
                                    .decode(data, options: DecodingOptions())
                                let side = index % 200 + 1
                                let isRight =
                                    image?.size == PixelSize(width: side, height: side)
                                    && image?.pixels.tightBytes.allSatisfy { Int($0) == side } == true
                                return isRight ? 0 : 1
                            }
                        }
                    }
                    return await group.reduce(0, +)
                }
                let growth = ResidentMemory.byteCount - before
                sandbox.shutDown()

                #expect(wrong == 0)
                #expect(sandbox.statistics.crashes == count / 10)
                #expect(sandbox.statistics.requests == count + 1)
                #expect(growth < 48 << 20)
                #expect(Workers.ids.isEmpty)
                #expect(Workers.descriptorCount == 0)
            }
        }
    }

    /// Decodes an image in the sandbox whose worker sends the rows.
    private final class DecodingConsumer: PixelRowConsumer {
        private let sandbox: Sandbox
        private(set) var code: ImageDecodingError.Code?

        init(_ sandbox: Sandbox) { self.sandbox = sandbox }

        func begin(_ header: PixelRowHeader) throws { code = sandbox.error(of: "gray 3")?.code }

        func consume(_ row: RawSpan) throws {}

        func finish() throws {}
    }
#endif
