#if Sandbox
    public import AlcedoCore
    import AlcedoLibc
    import CSandboxShim

    /// The part of a program that is a worker process.
    public enum SandboxWorker {
        static let marker = "--alcedo-sandbox-worker"

        /// Whether this process was started as a worker.
        package static var isRequested: Bool { CommandLine.arguments.dropFirst().first == marker }

        /// Throws if the process is a worker, or if this is unknown. Otherwise, a program that does not call
        /// ``runIfRequested(_:conversions:prepare:)`` would start itself without end.
        static func checkIsApp(_ arguments: [String] = CommandLine.arguments) throws(SandboxError) {
            // Swift finds the arguments by files in /proc.
            guard !arguments.isEmpty else {
                throw SandboxError(
                    .cannotStart, "sandbox: the arguments of the process are unknown, because /proc is not mounted")
            }
            guard arguments.dropFirst().first != marker else {
                throw SandboxError(
                    .cannotStart, "sandbox: a worker cannot have workers; call SandboxWorker.runIfRequested")
            }
        }

        /// Runs a worker, and never returns, if a ``Sandbox`` started this process. Otherwise does nothing.
        ///
        /// Call it first in `main`, before the program opens files, starts threads or reads secrets:
        ///
        /// ```swift
        /// SandboxWorker.runIfRequested(.standard)
        /// ```
        ///
        /// Workers that draw text in SVG need fonts: `SandboxWorker.runIfRequested(codecs, prepare: SVGFonts.load)`.
        ///
        /// The worker removes its environment, limits its memory, gives up all privileges, and denies itself every
        /// system call that decoding does not need, before it receives the first image. Threads that decoders start are
        /// allowed.
        ///
        /// - Parameters:
        ///   - codecs: The formats that the worker decodes. It finds the decoder by the format's name.
        ///   - conversions: The work that ``Sandbox/convert(_:by:argument:limits:maximumByteCount:)`` can name.
        ///     Default: none.
        ///   - prepare: Work that needs files and runs before the confinement. It returns the absolute paths of files
        ///     that decoders read later, such as fonts. The worker opens these files before the confinement, at most
        ///     8,192 and as many as the hard limit of descriptors allows. Later, opening exactly such a path gives a
        ///     duplicate of the open file, and opening one that could not be kept ends the worker;
        ///     ``Sandbox/unavailableFileCount`` is their number. Images that take over the worker can read these files
        ///     and use the descriptors and the threads that the closure leaves. Landlock does not apply to these
        ///     threads, but the filter of system calls does. The worker has 20 seconds to start, including this work.
        ///     Default: no work and no files.
        public static func runIfRequested(
            _ codecs: CodecRegistry, conversions: [SandboxedConversion] = [], prepare: () -> [String] = { [] }
        ) {
            guard isRequested else { return }
            let numbers = CommandLine.arguments.dropFirst(2).first?.split(separator: ",").map { Int($0) ?? 0 } ?? []
            guard numbers.count == 4, numbers[0] == Int(ALCEDO_SANDBOX_VERSION), numbers[1...].allSatisfy({ $0 > 0 }),
                let input = alcedo_sandbox_map(inputFile, UInt64(numbers[2]), 0),
                let output = alcedo_sandbox_map(outputFile, UInt64(numbers[3]), 1)
            else { _exit(64) }
            close(inputFile)
            close(outputFile)
            let kept = prepare().map { alcedo_sandbox_keep_file($0) }
            var landlock: Int32 = 0
            let failedStep =
                kept.allSatisfy { $0 >= 0 }
                ? alcedo_sandbox_confine(UInt64(numbers[1]), &landlock) : Int32(ALCEDO_SANDBOX_LIMITS)
            let reason = errno
            var reply = alcedo_sandbox_reply(failedStep == 0 ? .ready : .failure)
            reply.code = UInt32(failedStep == 0 ? kept.reduce(0, +) : failedStep)
            reply.value = Int64(failedStep == 0 ? landlock : reason)
            WorkerSocket.send(reply)
            guard failedStep == 0 else { _exit(70) }
            var loop = WorkerLoop(
                codecs, conversions, input: UnsafeRawBufferPointer(start: input, count: numbers[2]),
                output: OutputMemory(UnsafeMutableRawBufferPointer(start: output, count: numbers[3])))
            loop.run()
        }
    }

    private let inputFile = Int32(ALCEDO_SANDBOX_INPUT)
    private let outputFile = Int32(ALCEDO_SANDBOX_OUTPUT)
#endif
