#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import CSandboxShim
    import FoundationEssentials

    /// A worker process, seen from the app: its socket, and the memory that both share.
    ///
    /// `@unchecked` because of the pointers and the counters. One thread at a time uses a worker: the pool hands it
    /// over under its lock, and the thread gives it back the same way.
    final class WorkerProcess: @unchecked Sendable {
        /// The number that identifies the worker within its pool.
        let id: Int
        /// The version of Landlock that confines the worker; 0 without Landlock.
        let landlockVersion: Int
        /// The output of the worker, which a hostile worker can change at any time.
        let output: UnsafeRawBufferPointer
        private let files: WorkerFiles
        private let input: UnsafeMutableRawBufferPointer
        private let configuration: SandboxConfiguration
        private let baseline: UInt64
        private var requestCount = 0
        /// The CPU time that the worker had used before the last request.
        private var usedSeconds: Int64 = 0
        private var largestInput = 0
        private var remaining = Duration.zero

        /// The number of bytes of shared input or output that a worker keeps between requests.
        static let keptByteCount = 64 << 20
        /// The CPU time after which a worker is replaced, half of what the kernel grants it.
        private static let keptSeconds = 1_800

        /// Starts a worker and waits until it is confined. Blocks for some 20 milliseconds.
        init(id: Int, _ configuration: SandboxConfiguration) throws(SandboxError) {
            let inputByteCount = InputLayout(capacity: configuration.maximumInputByteCount).byteCount
            let outputByteCount = OutputLayout(capacity: configuration.maximumOutputByteCount).byteCount
            let memory = try SharedMemory(input: inputByteCount, output: outputByteCount)
            files = try WorkerFiles(memory, configuration)
            guard let inputBase = alcedo_sandbox_map(files.input, UInt64(inputByteCount), 1),
                let outputBase = alcedo_sandbox_map(files.output, UInt64(outputByteCount), 0),
                // The mapping of the app stays writable, and the worker cannot change its own input.
                alcedo_sandbox_seal_writes(files.input) == 0
            else {
                let reason = String(cString: strerror(errno))
                files.end()
                throw SandboxError(.cannotStart, "sandbox: cannot map shared memory: \(reason)")
            }
            self.id = id
            self.configuration = configuration
            input = UnsafeMutableRawBufferPointer(start: inputBase, count: inputByteCount)
            output = UnsafeRawBufferPointer(start: outputBase, count: outputByteCount)
            do throws(SandboxError) {
                landlockVersion = try files.receiveReady()
            } catch {
                alcedo_sandbox_unmap(inputBase, UInt64(inputByteCount))
                alcedo_sandbox_unmap(UnsafeMutableRawPointer(mutating: outputBase), UInt64(outputByteCount))
                files.end()
                throw error
            }
            baseline = alcedo_sandbox_private_bytes(files.statm)
        }

        /// Kills the worker, waits for its end, and releases everything. Returns the signal that ended it, or 256 plus
        /// the exit status, or -1 if it is unknown. Call it once.
        @discardableResult
        func end() -> Int32 {
            if let base = input.baseAddress { alcedo_sandbox_unmap(base, UInt64(input.count)) }
            if let base = output.baseAddress {
                alcedo_sandbox_unmap(UnsafeMutableRawPointer(mutating: base), UInt64(output.count))
            }
            return files.end()
        }

        /// Whether the worker must be replaced, because it has served enough requests or has grown.
        var isWorn: Bool {
            requestCount >= configuration.requestsPerWorker || largestInput > Self.keptByteCount
                || usedSeconds > Self.keptSeconds
                || alcedo_sandbox_private_bytes(files.statm) > baseline + UInt64(max(0, configuration.growthLimit))
        }

        // MARK: Messages

        /// Sends a request with a new allowance of time.
        ///
        /// - Throws: `WorkerFailure.lost` if the worker has ended; ``ImageDecodingError`` `exceedsLimit` for too much
        ///   data.
        func send(
            _ kind: RequestKind, _ format: ImageFormat, _ data: Data?, _ options: DecodingOptions,
            session: UInt64 = 0, index: Int = 0
        ) throws {
            let count = data?.count ?? 0
            var name = format.rawValue
            let nameByteCount = name.utf8.count
            guard count <= input.count - InputLayout.dataOffset, nameByteCount <= InputLayout.nameByteCount else {
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
            let seconds = max(1, configuration.cpuTimeLimit.components.seconds)
            usedSeconds = alcedo_sandbox_limit_cpu(files.process, UInt64(seconds))
            guard usedSeconds >= 0 else { throw WorkerFailure.lost }
            guard files.send(request) else { throw WorkerFailure.lost }
        }

        /// Sends a message that continues a request.
        func send(_ kind: RequestKind) throws(WorkerFailure) {
            guard files.send(alcedo_sandbox_request(kind)) else { throw .ended }
        }

        /// Waits for the next message, as long as the request still has time.
        func receive() throws(WorkerFailure) -> alcedo_sandbox_reply {
            let reply = try files.receive(within: &remaining)
            guard reply.kind != UInt32(ALCEDO_SANDBOX_FAULT) else { throw .fault(reply) }
            return reply
        }

        /// Returns the error of a `failure` message.
        func decodingError(_ reply: alcedo_sandbox_reply) throws(WorkerFailure) -> ImageDecodingError {
            var payload = try self.payload(of: reply)
            return try ImageDecodingError(from: &payload)
        }

        func payload(of reply: alcedo_sandbox_reply) throws(WorkerFailure) -> PayloadReader {
            try PayloadReader(output, count: reply.checkedPayloadCount())
        }

        /// Returns the memory of a large image to the system.
        func releaseLargeOutput(_ reply: alcedo_sandbox_reply, byteCount: Int) {
            guard byteCount > Self.keptByteCount else { return }
            alcedo_sandbox_release(files.output, reply.offset, UInt64(byteCount))
        }
    }
#endif
