#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import AlcedoSandbox
    import Foundation
    import TestSupport
    import Testing

    extension SandboxTests {
        @Suite struct HostileDecoderTests {
            @Test(arguments: [
                ("segfault", "SIGSEGV"), ("trap", "SIG"), ("abort", "SIGABRT"), ("exit", "status 3"),
                ("recursion", "SIGSEGV"), ("overrun", "SIGSEGV"),
            ])
            func `a crash is an error of its image only`(misbehavior: String, reason: String) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: misbehavior)

                #expect(error?.code == .decoderFailed)
                #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
                #expect(sandbox.statistics.crashes == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: [
                ("open", "openat"), ("create", "openat"), ("connect", "socket"), ("fork", ""),
                ("execute", "execve"),
                ("signal", "kill"), ("identity", "setuid"), ("mapCode", "mmap"), ("duplicate", "dup"),
            ])
            func `a forbidden system call is an error of its image only`(misbehavior: String, call: String) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: misbehavior)

                #expect(error?.code == .decoderFailed)
                // The C library blocks the signal that reports the call while it starts a process.
                let text = call.isEmpty ? "a forbidden system call" : "the forbidden system call \(call)"
                #expect(error?.description.hasSuffix(text) == true, "\(String(describing: error))")
                #expect(sandbox.statistics.illegalCalls == 1)
                #expect(!FileManager.default.fileExists(atPath: "/tmp/alcedo-sandbox-escape"))
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: ["loop", "sleep"])
            func `a decoder that does not end exceeds the time limit`(misbehavior: String) throws {
                let sandbox = try Sandbox.testing { $0.timeLimit = .milliseconds(500) }
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: misbehavior)

                #expect(error?.code == .timedOut)
                #expect(sandbox.statistics.timeouts == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: ["loop", "sleep"])
            func `a worker is killed when the task that waits for it is canceled`(misbehavior: String) async throws {
                let sandbox = try Sandbox.testing { $0.timeLimit = .seconds(3_600) }
                defer { sandbox.shutDown() }
                // The worker is idle, so the wait is one for the decoder.
                try sandbox.checkOrdinaryImage()

                let error = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return sandbox.error(of: misbehavior)
                }.value

                #expect(error?.code == .decoderUnavailable, "\(String(describing: error))")
                #expect(sandbox.statistics.recycledWorkers == 1)
                #expect(sandbox.statistics.timeouts == 0)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a wait for an idle worker ends when its task is canceled`() async throws {
                let sandbox = try Sandbox.testing { $0.timeLimit = .seconds(3_600) }
                defer { sandbox.shutDown() }
                try sandbox.checkOrdinaryImage()
                let reader = try SandboxedDecoder(.hostile, in: sandbox).open(
                    Data("gray 9".utf8), limits: DecodingLimits())

                let error = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return sandbox.error(of: "gray 9")
                }.value

                #expect(error?.code == .decoderUnavailable, "\(String(describing: error))")
                #expect(try reader.decode(DecodingOptions()).size == PixelSize(width: 9, height: 9))
                #expect(sandbox.statistics.recycledWorkers == 0)
            }

            @Test func `threads exceed the limit of CPU time`() throws {
                let sandbox = try Sandbox.testing { $0.cpuTimeLimit = .seconds(1) }
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: "threads")

                #expect(error?.code == .timedOut)
                #expect(error?.description.contains("CPU") == true, "\(String(describing: error))")
                #expect(sandbox.statistics.timeouts == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `an array that grows without end exceeds the memory limit`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: "allocate")

                #expect(error?.code == .outOfMemory, "\(String(describing: error))")
                #expect(sandbox.statistics.memoryOverruns == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a decoder can report that it has no memory`() throws {
                let sandbox = try Sandbox.testing { $0.maximumGrowthByteCount = 64 << 20 }
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: "blocks")

                #expect(error == ImageDecodingError(.outOfMemory, "no memory"))
                #expect(sandbox.statistics.recycledWorkers == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: [
                "size", "offset", "payload", "kind", "format", "shortMessage", "flood", "finishedTwice", "finishedFew",
                "givenUpTwice",
            ])
            func `a forged reply is an error of its image only`(misbehavior: String) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: misbehavior)

                #expect(error?.code == .decoderFailed)
                #expect(sandbox.statistics.violations == 1, "\(String(describing: error))")
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: [3, 9])
            func `a wrong number of rows is an error`(count: Int) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                #expect(sandbox.errorOfRows("rows \(count)")?.code == .decoderFailed)

                #expect(sandbox.statistics.violations == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test(arguments: ["rows deaf", "rows piece"])
            func `a worker can neither block the app nor fill its memory with rows`(misbehavior: String) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                #expect(sandbox.errorOfRows(misbehavior)?.code == .decoderFailed)

                #expect(sandbox.statistics.violations == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a forbidden system call is reported although a message is unread`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.errorOfRows("rows call")

                #expect(error?.description.hasSuffix("setuid") == true, "\(String(describing: error))")
                #expect(sandbox.statistics.illegalCalls == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a worker that ends by SIGKILL counts as a lack of memory`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                let error = sandbox.error(of: "kill")

                #expect(error?.code == .outOfMemory, "\(String(describing: error))")
                #expect(sandbox.statistics.memoryOverruns == 1)
                #expect(sandbox.statistics.crashes == 0)
                try sandbox.checkOrdinaryImage()
            }

            // As the kernel does when memory runs out.
            @Test func `a worker that is killed in the middle is an error of its image only`() async throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                async let error = Threads.run { sandbox.error(of: "loop") }
                // The idle worker uses no CPU time, so it decodes when its time grows.
                try await eventually { Workers.ids.contains { Workers.ticks(of: $0) >= 20 } }

                for id in Workers.ids { kill(id, SIGKILL) }

                let outcome = await error
                #expect(outcome?.code == .outOfMemory)
                #expect(sandbox.statistics.memoryOverruns == 1)
                #expect(sandbox.statistics.crashes == 0)
                try sandbox.checkOrdinaryImage()
            }
        }
    }
#endif
