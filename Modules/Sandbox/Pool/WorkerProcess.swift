#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import CSandboxShim
    import FoundationEssentials
    import Synchronization

    /// A worker process, seen from the app: its socket, and the memory that both share.
    ///
    /// `@unchecked` because of the pointers and the counters. One thread at a time uses a worker: the pool hands it
    /// over under its lock, and the thread gives it back the same way.
    final class WorkerProcess: @unchecked Sendable {
        /// The number that identifies the worker within its pool.
        let id: Int
        let confinement: Confinement
        /// The output of the worker, which a hostile worker can change at any time.
        var output: UnsafeRawBufferPointer { memory.output }
        private let files: WorkerFiles
        private let memory: SharedMemory
        private let configuration: SandboxConfiguration
        private let baseline: Memory
        /// The number of animations of the app whose state the worker has.
        private let animationCount = Atomic(0)
        private var requestCount = 0
        /// The CPU time that the worker had used before the last request.
        private var usedSeconds: Int64 = 0
        private var largestInput = 0
        private var remaining = Duration.zero
        /// Whether the worker may still work on a request: it has not yet sent the last reply, or its decoder has given
        /// up because the time is over, while the library works on in a thread.
        private(set) var isWorking = false

        /// The number of bytes of the shared input, and of each area of the shared output, that a worker keeps between
        /// requests.
        static let keptByteCount = 64 << 20
        /// The CPU time after which a worker is replaced, half of what the kernel grants it.
        private static let keptSeconds = 1_800

        /// Starts a worker and waits until it is confined. Blocks for some 20 milliseconds.
        init(id: Int, _ configuration: SandboxConfiguration) throws(SandboxError) {
            let inputByteCount = InputLayout(capacity: configuration.maximumInputByteCount).byteCount
            let outputByteCount = OutputLayout(capacity: configuration.maximumOutputByteCount).byteCount
            let memory = try SharedMemory(input: inputByteCount, output: outputByteCount)
            do throws(SandboxError) {
                files = try WorkerFiles(memory, configuration)
            } catch {
                memory.unmap()
                throw error
            }
            do throws(SandboxError) {
                confinement = try files.receiveReady()
            } catch {
                memory.unmap()
                files.end()
                throw error
            }
            self.id = id
            self.configuration = configuration
            self.memory = memory
            baseline = Memory(files.statm)
        }

        /// Whether the process has ended. The query does not block.
        var hasEnded: Bool { files.hasEnded }

        /// Kills the worker unless it ends within the time, waits for its end, and releases everything. Returns the
        /// signal that ended it, or 256 plus the exit status, or -1 if it is unknown or this call killed it. Call it
        /// once.
        @discardableResult
        func end(within milliseconds: Int32 = 0) -> Int32 {
            memory.unmap()
            return files.end(within: milliseconds)
        }

        /// Whether the worker must be replaced, because it has served enough requests or has grown.
        ///
        /// Growth does not count while the app uses an animation of the worker. Another worker would decode each frame
        /// from the beginning of the animation, and grow as much.
        var isWorn: Bool {
            requestCount >= configuration.requestsPerWorker || largestInput > Self.keptByteCount
                || usedSeconds > Self.keptSeconds || animationCount.load(ordering: .relaxed) == 0 && hasGrown
        }

        private var hasGrown: Bool {
            let memory = Memory(files.statm)
            // Fonts that stay mapped are not private. Without address space, a library could leave one out.
            return memory.ownByteCount > baseline.ownByteCount + UInt64(max(0, configuration.maximumGrowthByteCount))
                || memory.mappedByteCount > baseline.mappedByteCount
                    + UInt64(max(0, configuration.maximumMemoryByteCount / 4 * 3))
        }

        /// Counts an animation whose state the worker has (1) or no longer needs (-1).
        func countAnimation(_ change: Int) { animationCount.add(change, ordering: .relaxed) }

        /// The memory that a worker uses; zero if it is unknown.
        private struct Memory {
            let ownByteCount: UInt64
            let mappedByteCount: UInt64

            init(_ statm: Int32) {
                var mapped: UInt64 = 0
                ownByteCount = alcedo_sandbox_private_bytes(statm, &mapped)
                mappedByteCount = mapped
            }
        }

        // MARK: Messages

        /// Sends a request with a new allowance of time.
        ///
        /// `name` is that of a format or of a conversion, and `index` the index of a frame or the argument of a
        /// conversion.
        ///
        /// - Throws: `WorkerFailure.lost` if the worker has ended; `ImageDecodingError` `exceedsLimit` for too much
        ///   data, and `decoderUnavailable` for a name that is too long.
        func send(
            _ kind: RequestKind, _ name: String, _ data: Data?, _ options: DecodingOptions,
            session: UInt64 = 0, index: Int = 0
        ) throws {
            let input = memory.input
            let count = data?.count ?? 0
            var name = name
            let nameByteCount = name.utf8.count
            guard nameByteCount <= InputLayout.nameByteCount else {
                throw ImageDecodingError(
                    .decoderUnavailable,
                    "sandbox: the name \(name) has more than \(InputLayout.nameByteCount) bytes")
            }
            guard count <= input.count - InputLayout.dataOffset else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "sandbox: \(count) bytes exceed the limit of \(configuration.maximumInputByteCount) bytes")
            }
            name.withUTF8 { input.copyMemory(from: UnsafeRawBufferPointer($0)) }
            data?.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: input[InputLayout.dataOffset...]).copyMemory(from: $0)
            }
            var request = alcedo_sandbox_request(kind, options)
            (request.name_count, request.input_count) = (UInt64(nameByteCount), UInt64(count))
            (request.session, request.index) = (session, Int64(index))
            requestCount += 1
            largestInput = max(largestInput, count)
            remaining = configuration.timeLimit
            let (wholeSeconds, attoseconds) = configuration.cpuTimeLimit.components
            let seconds = max(1, min(wholeSeconds, 3_600) + (attoseconds > 0 ? 1 : 0))
            usedSeconds = files.limitCPU(UInt64(seconds))
            guard usedSeconds >= 0, try files.send(request) else { throw WorkerFailure.lost }
            isWorking = true
        }

        /// Sends a message about the opened image, in the time that is left of the request.
        ///
        /// - Throws: `WorkerFailure.lost` if the worker has ended.
        func send(_ kind: RequestKind, _ options: DecodingOptions) throws(WorkerFailure) {
            guard try files.send(alcedo_sandbox_request(kind, options)) else { throw .lost }
            isWorking = true
        }

        /// Sends a message that continues a request. If the worker has ended, ``receive()`` returns its last replies
        /// and then throws.
        func send(_ kind: RequestKind) throws(WorkerFailure) {
            _ = try files.send(alcedo_sandbox_request(kind))
        }

        /// Waits for the next message, as long as the request still has time, and the work of the thread is not
        /// canceled.
        func receive() throws(WorkerFailure) -> alcedo_sandbox_reply {
            let reply = try files.receive(within: &remaining, isCancelable: true)
            guard reply.kind != UInt32(ALCEDO_SANDBOX_FAULT) else { throw .fault(reply) }
            switch ReplyKind(rawValue: reply.kind) {
            case .finishedRows, .noFinishedRows, .rowHeader, .rows: break
            default: isWorking = false
            }
            return reply
        }

        /// Reads the last messages of a worker that has ended, and returns the reason for its end.
        func lastFailure() -> WorkerFailure {
            while true {
                do throws(WorkerFailure) {
                    _ = try receive()
                } catch {
                    return error
                }
            }
        }

        /// Waits for the next message, which must be of a kind.
        ///
        /// - Throws: `WorkerFailure`, or the `ImageDecodingError` of a `failure` message.
        func receive(_ expected: ReplyKind) throws -> alcedo_sandbox_reply {
            let reply = try receive()
            try check(reply, expected)
            return reply
        }

        /// Throws unless a message is of a kind, as ``receive(_:)`` does.
        func check(_ reply: alcedo_sandbox_reply, _ expected: ReplyKind) throws {
            switch ReplyKind(rawValue: reply.kind) {
            case expected: return
            case .failure: throw try decodingError(reply)
            default: throw WorkerFailure.violation("an unexpected message")
            }
        }

        /// Returns the error of a `failure` message.
        func decodingError(_ reply: alcedo_sandbox_reply) throws(WorkerFailure) -> ImageDecodingError {
            var payload = try self.payload(of: reply)
            let error = try ImageDecodingError(from: &payload)
            if error.code == .timedOut { isWorking = true }
            return error
        }

        func payload(of reply: alcedo_sandbox_reply) throws(WorkerFailure) -> PayloadReader {
            try PayloadReader(output, count: reply.checkedPayloadCount())
        }

        /// Returns the memory of large images to the system, whichever area the decoder has used. Call it when the
        /// reply has been copied.
        func releaseLargeOutput() {
            let layout = OutputLayout(capacity: configuration.maximumOutputByteCount)
            guard layout.capacity > Self.keptByteCount else { return }
            for start in [layout.directOffset, layout.copyOffset] {
                alcedo_sandbox_release(
                    files.output, UInt64(start + Self.keptByteCount), UInt64(layout.capacity - Self.keptByteCount))
            }
        }
    }
#endif
