#if Sandbox
    import AlcedoLibc
    import AlcedoRuntime
    import CSandboxShim

    /// The two blocks of memory that a worker shares with the app, mapped in the app. Their owner closes the
    /// descriptors and removes the mappings.
    struct SharedMemory {
        let inputFile: Int32
        let outputFile: Int32
        /// The encoded images, which only the app can write.
        let input: UnsafeMutableRawBufferPointer
        /// The results, which only the worker writes.
        let output: UnsafeRawBufferPointer

        init(input inputByteCount: Int, output outputByteCount: Int) throws(SandboxError) {
            let inputFile = alcedo_sandbox_create_memory(UInt64(inputByteCount))
            let outputFile = inputFile < 0 ? -1 : alcedo_sandbox_create_memory(UInt64(outputByteCount))
            let input = outputFile < 0 ? nil : alcedo_sandbox_map(inputFile, UInt64(inputByteCount), 1)
            let output = input == nil ? nil : alcedo_sandbox_map(outputFile, UInt64(outputByteCount), 0)
            // The worker starts after this, so it can only map its input for reading. The app's mapping stays writable.
            guard let input, let output, alcedo_sandbox_seal_writes(inputFile) == 0,
                alcedo_sandbox_seal(outputFile) == 0
            else {
                let number = errno
                if let input { alcedo_sandbox_unmap(input, UInt64(inputByteCount)) }
                if let output { alcedo_sandbox_unmap(output, UInt64(outputByteCount)) }
                for file in [inputFile, outputFile] where file >= 0 { close(file) }
                throw SandboxError(
                    [EMFILE, ENFILE, ENOMEM].contains(number) ? .cannotStart : .unsupported,
                    "sandbox: cannot create shared memory: \(String(cString: strerror(number)))")
            }
            (self.inputFile, self.outputFile) = (inputFile, outputFile)
            self.input = UnsafeMutableRawBufferPointer(start: input, count: inputByteCount)
            self.output = UnsafeRawBufferPointer(start: output, count: outputByteCount)
        }

        /// Removes both mappings.
        func unmap() {
            if let base = input.baseAddress { alcedo_sandbox_unmap(base, UInt64(input.count)) }
            if let base = output.baseAddress {
                alcedo_sandbox_unmap(UnsafeMutableRawPointer(mutating: base), UInt64(output.count))
            }
        }
    }

    /// The confinement of a worker, as the worker reports it at its start.
    struct Confinement: Sendable {
        /// The version of Landlock; 0 without Landlock.
        var landlockVersion = 0
        /// The number of files that the worker should keep open and could not open.
        var unavailableFileCount = 0
    }

    /// The descriptors of a worker process.
    struct WorkerFiles: Sendable {
        private let process: Int32
        let output: Int32
        private let input: Int32
        /// The open file /proc/N/statm, or -1.
        let statm: Int32
        private let pidfd: Int32
        let socket: Int32
        private let startLimit: Duration

        /// Starts the process. Owns the descriptors of the memory, also after an error.
        init(_ memory: SharedMemory, _ configuration: SandboxConfiguration) throws(SandboxError) {
            let (input, output) = (memory.inputFile, memory.outputFile)
            var (near, far): (Int32, Int32) = (-1, -1)
            var (process, pidfd): (Int32, Int32) = (0, -1)
            var error = alcedo_sandbox_socket_pair(&near, &far) == 0 ? 0 : errno
            if error == 0 {
                let settings = [
                    Int(ALCEDO_SANDBOX_VERSION), configuration.maximumMemoryByteCount, memory.input.count,
                    memory.output.count,
                ].map { String($0) }.joined(separator: ",")
                let arguments = [CommandLine.arguments.first ?? "worker", SandboxWorker.marker, settings]
                // The dynamic linker needs the variable; the worker removes it.
                let variables = getenv("LD_LIBRARY_PATH").map { ["LD_LIBRARY_PATH=" + String(cString: $0)] } ?? []
                error = Self.withCStrings(arguments) { arguments in
                    Self.withCStrings(variables) { variables in
                        alcedo_sandbox_start(
                            configuration.executable ?? "/proc/self/exe", arguments, variables, far, input, output,
                            &process, &pidfd)
                    }
                }
            }
            if far >= 0 { close(far) }
            guard error == 0 else {
                for file in [near, input, output] where file >= 0 { close(file) }
                throw SandboxError(
                    .cannotStart, "sandbox: cannot start a worker: \(String(cString: strerror(error)))")
            }
            startLimit = configuration.startLimit
            statm = open("/proc/\(process)/statm", O_RDONLY | O_CLOEXEC)
            (self.process, self.pidfd, socket) = (process, pidfd, near)
            (self.input, self.output) = (input, output)
        }

        /// Whether the process has ended.
        var hasEnded: Bool { alcedo_sandbox_has_ended(pidfd, 0) != 0 }

        /// Kills the process unless it ends within the time, waits for its end and closes all descriptors. Returns the
        /// signal that ended the process, or 256 plus its exit status, or -1 if it is unknown or this call killed it.
        @discardableResult
        func end(within milliseconds: Int32 = 0) -> Int32 {
            let result = alcedo_sandbox_end(pidfd, milliseconds)
            for file in [input, output, statm, pidfd, socket] where file >= 0 { close(file) }
            return result
        }

        /// Lets the worker use `seconds` more of CPU time. Returns the seconds that it has used so far, or -1 if it no
        /// longer exists.
        func limitCPU(_ seconds: UInt64) -> Int64 { alcedo_sandbox_limit_cpu(process, pidfd, seconds) }

        /// Sends a message without waiting, and returns whether the worker still exists. Throws if the worker does not
        /// read its messages. A hostile worker could otherwise block the app without end.
        func send(_ request: alcedo_sandbox_request) throws(WorkerFailure) -> Bool {
            var request = request
            let size = MemoryLayout<alcedo_sandbox_request>.size
            while true {
                let sent = AlcedoLibc.send(socket, &request, size, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                guard sent < 0 else { return sent == size }
                if errno == EAGAIN { throw .violation("replies without reading the requests") }
                guard errno == EINTR else { return false }
            }
        }

        /// The time between two checks whether the work of the waiting thread was canceled, in milliseconds.
        static let checkInterval: Int64 = 50

        /// Returns the next message of the worker, and subtracts the time of waiting for it. Throws `canceled` when the
        /// work of the thread is canceled before the message arrives, if it `isCancelable`.
        func receive(
            within remaining: inout Duration, isCancelable: Bool = false
        ) throws(WorkerFailure) -> alcedo_sandbox_reply {
            var reply = alcedo_sandbox_reply()
            let size = MemoryLayout<alcedo_sandbox_reply>.size
            let start = ContinuousClock.now
            let end = start + remaining
            defer { remaining -= start.duration(to: .now) }
            while true {
                let left = ContinuousClock.now.duration(to: end)
                guard left > .zero else { throw .timedOut }
                let (seconds, attoseconds) = left.components
                var milliseconds = min(seconds, 1_000_000) * 1_000 + attoseconds / 1_000_000_000_000_000 + 1
                if isCancelable { milliseconds = min(milliseconds, Self.checkInterval) }
                var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                let count = poll(&event, 1, Int32(milliseconds))
                if count < 0, errno != EINTR { throw .ended }
                guard count > 0 else {
                    if isCancelable, BlockingExecutor.isWorkCanceled { throw .canceled }
                    continue
                }
                let received = recv(socket, &reply, size, Int32(MSG_DONTWAIT))
                if received == size { return reply }
                // A worker that ends before it has read all messages resets the connection. Its last reply comes after
                // this error.
                if received < 0, [EINTR, EAGAIN, ECONNRESET].contains(errno) { continue }
                guard received > 0 else { throw .ended }
                throw .violation("a message of \(received) bytes")
            }
        }

        /// Waits for the message that the worker is confined.
        func receiveReady() throws(SandboxError) -> Confinement {
            var remaining = startLimit
            let reply: alcedo_sandbox_reply
            do throws(WorkerFailure) {
                reply = try receive(within: &remaining)
            } catch {
                throw SandboxError(.cannotStart, "sandbox: \(startProblem(error))")
            }
            switch ReplyKind(rawValue: reply.kind) {
            case .ready:
                return Confinement(
                    landlockVersion: Int(clamping: reply.value), unavailableFileCount: Int(clamping: reply.code))
            case .failure:
                let reason = String(cString: strerror(Int32(clamping: reply.value)))
                throw SandboxError(.unsupported, "sandbox: the worker cannot \(Self.step(reply.code)): \(reason)")
            default: throw SandboxError(.cannotStart, "sandbox: \(startProblem(.violation("an unexpected message")))")
            }
        }

        /// Returns the words for a worker that was not confined. Only a program that ends by itself, or sends something
        /// else, may not be prepared for workers.
        private func startProblem(_ failure: WorkerFailure) -> String {
            let advice = "Call SandboxWorker.runIfRequested first in main."
            switch failure {
            case .timedOut: return "a worker did not start within \(startLimit)"
            case .ended:
                // The process has closed its socket, and ends at the same time.
                let end = alcedo_sandbox_end_of(pidfd, 5_000)
                switch end {
                case 1..<256: return "a worker was ended by signal \(end) while it started"
                case 256...: return "a worker ended with status \(end - 256) while it started. \(advice)"
                default: return "a worker ended while it started"
                }
            default: return "the worker does not confine itself. \(advice)"
            }
        }

        /// Returns the words for a step of the confinement, for a message.
        private static func step(_ number: UInt32) -> String {
            switch Int(number) {
            case Int(ALCEDO_SANDBOX_LIMITS): "limit its resources"
            case Int(ALCEDO_SANDBOX_PRIVILEGES): "give up its privileges"
            case Int(ALCEDO_SANDBOX_LANDLOCK): "deny itself files with Landlock"
            case Int(ALCEDO_SANDBOX_FILTER): "filter its system calls"
            default: "confine itself"
            }
        }

        private static func withCStrings<Result>(
            _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result
        ) -> Result {
            let copies = strings.map { strdup($0) }
            defer { for copy in copies { free(copy) } }
            return body(copies.map { UnsafePointer($0) } + [nil])
        }
    }
#endif
