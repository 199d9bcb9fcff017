#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import CSandboxShim

    /// A reason for which a worker cannot be used any longer.
    enum WorkerFailure: Error {
        /// The worker ended before it received the request.
        case lost
        /// The worker ended without a message.
        case ended
        /// The worker did not reply in time.
        case timedOut
        /// The work of the thread that waits for the worker was canceled. The worker is killed, because no codec can be
        /// told to stop.
        case canceled
        /// The worker reported that a signal ended it.
        case fault(alcedo_sandbox_reply)
        /// The worker sent an invalid message.
        case violation(String)
    }

    extension WorkerFailure {
        /// The time, in milliseconds, in which the worker may end by itself. A worker that ends closes its socket
        /// before the system reports its end.
        var endLimit: Int32 { if case .ended = self { 5_000 } else { 0 } }

        /// Returns the error of the image and the statistic that counts it. `lost` is not counted there, because no
        /// image was lost, and a cancellation is no failure.
        ///
        /// - Parameter end: The signal that ended the worker, or 256 plus its exit status, or -1 if it is unknown or
        ///   the app killed the worker.
        func outcome(end: Int32, _ configuration: SandboxConfiguration) -> Outcome {
            switch self {
            case .timedOut: Self.timeout("the decoder did not finish within \(configuration.timeLimit)")
            case .canceled: (ImageDecodingError.canceled("sandbox"), nil)
            case .violation(let what): (Self.failed("the worker sent \(what)"), .violation)
            case .fault(let reply) where reply.value >= 0: Self.illegalCall(Int32(truncatingIfNeeded: reply.value))
            case .fault(let reply) where reply.flags & 1 != 0: Self.overrun(configuration.maximumMemoryByteCount)
            case .fault(let reply): Self.crash(Int32(truncatingIfNeeded: reply.code))
            case .lost:
                (ImageDecodingError(.decoderUnavailable, "sandbox: workers end before they receive the image"), .crash)
            case .ended:
                switch end {
                case SIGXCPU: Self.timeout("the decoder used more CPU time than \(configuration.cpuTimeLimit)")
                // The handler of the signal exits if the report of the call could not be sent.
                case SIGSYS, 256 + 128 + SIGSYS: Self.illegalCall(-1)
                case SIGKILL: Self.killed
                case ..<0: (Self.failed("the decoder ended"), .crash)
                case 256...: (Self.failed("the decoder exited with status \(end - 256)"), .crash)
                default: Self.crash(end)
                }
            }
        }

        /// The error of an image, and the statistic that counts it; nil for none.
        typealias Outcome = (error: ImageDecodingError, kind: Kind?)

        /// The statistics of failures.
        enum Kind {
            case crash, illegalCall, timeout, memoryOverrun, violation
        }

        private static func failed(_ text: String) -> ImageDecodingError {
            ImageDecodingError(.decoderFailed, "sandbox: \(text)")
        }

        private static func timeout(_ text: String) -> Outcome {
            (ImageDecodingError(.timedOut, "sandbox: \(text)"), .timeout)
        }

        private static func overrun(_ limit: Int) -> Outcome {
            let error = ImageDecodingError(.outOfMemory, "sandbox: the decoder exceeded the limit of \(limit) bytes")
            return (error, .memoryOverrun)
        }

        /// The outcome of a signal that the app has not sent. In almost all cases, the kernel has sent it.
        private static var killed: Outcome {
            let text = "sandbox: the decoder was killed by SIGKILL, as the kernel does when memory runs out"
            return (ImageDecodingError(.outOfMemory, text), .memoryOverrun)
        }

        private static func crash(_ signal: Int32) -> Outcome {
            let names = [
                SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGFPE: "SIGFPE",
                SIGABRT: "SIGABRT", SIGTERM: "SIGTERM",
            ]
            return (failed("the decoder was ended by \(names[signal] ?? "signal \(signal)")"), .crash)
        }

        private static func illegalCall(_ number: Int32) -> Outcome {
            guard number >= 0 else { return (failed("the decoder made a forbidden system call"), .illegalCall) }
            let name = alcedo_sandbox_call_name(number)
            defer { free(name) }
            let text = name.map { String(cString: $0) } ?? "number \(number)"
            return (failed("the decoder made the forbidden system call \(text)"), .illegalCall)
        }
    }
#endif
