#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import CSandboxShim
    import FoundationEssentials

    /// Ends the process by a signal.
    enum Crash: String {
        case segfault, trap, abort, exit, kill, recursion, overrun

        func run() {
            switch self {
            case .segfault: UnsafeMutablePointer<UInt8>(bitPattern: 64)?.pointee = 1
            case .trap: preconditionFailure("on purpose")
            case .abort: AlcedoLibc.abort()
            case .exit: AlcedoLibc.exit(3)
            case .kill: raise(SIGKILL)
            case .recursion: print(Self.depth(1))
            case .overrun:
                // Beyond the pixels, through the shared memory, until its end.
                var pixels = PixelBuffer(size: PixelSize(width: 64, height: 64), format: .rgba8, alphaMode: .straight)
                pixels?.withUnsafeMutableBytes { memory in
                    var next = memory.baseAddress
                    while let address = next {
                        Memory.write(to: address)
                        next = address + 4096
                    }
                }
            }
        }

        @_optimize(none)
        private static func depth(_ value: Int) -> Int { value == 0 ? 0 : depth(value &+ 1) &+ value }
    }

    /// Makes a system call that the filter forbids.
    enum ForbiddenCall: String {
        case open, create, connect, fork, execute, signal, identity, mapCode, duplicate

        func run() {
            switch self {
            case .open: print(AlcedoLibc.open("/etc/passwd", O_RDONLY))
            case .create: print(AlcedoLibc.open("/tmp/alcedo-sandbox-escape", O_WRONLY | O_CREAT, 0o600))
            case .connect: print(socket(AF_INET, SocketType.stream, 0))
            case .fork:
                var process = pid_t()
                print(posix_spawn(&process, "/bin/true", nil, nil, [nil], [nil]))
            case .execute: print(execv("/bin/true", [nil]))
            case .signal: print(AlcedoLibc.kill(getpid(), SIGTERM))
            case .identity: print(setuid(1))
            case .mapCode: print(mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) as Any)
            case .duplicate: print(dup(0))
            }
        }
    }

    /// Uses more than its share.
    enum Excess: String {
        case loop, sleep, allocate, blocks, leak, reserve, threads, surrender

        func run() throws(ImageDecodingError) {
            switch self {
            case .loop: Self.spin()
            case .sleep: while true { AlcedoLibc.sleep(1_000) }
            case .allocate:
                var bytes: [UInt64] = []
                while true { bytes.append(UInt64(bytes.count)) }
            case .blocks:
                while Memory.take(1 << 20) {}
                throw ImageDecodingError(.outOfMemory, "no memory")
            // Like a decoder that leaves a thread behind.
            case .surrender: throw ImageDecodingError(.timedOut, "gave up")
            case .leak:
                guard Memory.take(32 << 20) else { throw ImageDecodingError(.outOfMemory, "no memory") }
                throw ImageDecodingError(.unsupportedVariant, "leaked")
            case .reserve:
                // Address space without memory, like that of mapped files.
                let address = mmap(nil, 200 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                guard address != UnsafeMutableRawPointer(bitPattern: -1) else {
                    throw ImageDecodingError(.outOfMemory, "no address space")
                }
                throw ImageDecodingError(.unsupportedVariant, "reserved")
            case .threads:
                for _ in 0..<3 {
                    var thread = pthread_t()
                    pthread_create(
                        &thread, nil,
                        { _ in
                            Excess.spin()
                            return nil
                        }, nil)
                }
                Self.spin()
            }
        }

        @inline(never)
        fileprivate static func spin() {
            var value: UInt64 = 1
            while true { value = value &* 6_364_136_223_846_793_005 &+ UInt64(getpid()) }
        }
    }

    /// Accesses to memory that the optimizer must not remove.
    private enum Memory {
        @_optimize(none)
        static func write(to address: UnsafeMutableRawPointer) { address.storeBytes(of: 0xAA, as: UInt8.self) }

        /// Allocates bytes that are never freed. Returns false if there are none.
        @_optimize(none)
        static func take(_ count: Int) -> Bool {
            guard let block = malloc(count) else { return false }
            for offset in stride(from: 0, to: count, by: 4096) { write(to: block + offset) }
            return true
        }
    }

    /// Does what decoders may do, and reports what it found as an error.
    enum Permitted: String {
        case surroundings, processors, thread

        func run() throws(ImageDecodingError) {
            switch self {
            case .surroundings:
                let variables = ProcessInfo.processInfo.environment.count
                // A call that tells open descriptors from others, and that the filter allows.
                let open = (0..<1_024).filter { lseek(Int32($0), 0, SEEK_CUR) >= 0 || errno != EBADF }
                throw ImageDecodingError(.unsupportedVariant, "variables \(variables), descriptors \(open)")
            case .processors:
                throw ImageDecodingError(.unsupportedVariant, "processors \(sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 0)")
            case .thread:
                let flag = UnsafeMutablePointer<Int>.allocate(capacity: 1)
                flag.pointee = 0
                var thread = pthread_t()
                let error = pthread_create(
                    &thread, nil,
                    {
                        $0?.storeBytes(of: 7, as: Int.self)
                        return nil
                    }, flag)
                pthread_join(thread, nil)
                throw ImageDecodingError(.unsupportedVariant, "thread \(error) \(flag.pointee)")
            }
        }
    }

    /// Sends a reply that no worker sends, in place of the worker's own.
    enum Forgery: String {
        case size, offset, payload, kind, format, shortMessage, flood
        /// Reports the same finished rows twice, or too few, or gives up rows twice.
        case finishedTwice, finishedFew, givenUpTwice

        func run() {
            var reply = alcedo_sandbox_reply()
            reply.kind = 4
            (reply.width, reply.height, reply.orientation) = (8, 8, 1)
            switch self {
            case .size: (reply.width, reply.height) = (1 << 40, 1 << 40)
            case .offset: reply.offset = UInt64.max - 100
            case .payload: reply.payload_count = UInt64.max
            case .kind: reply.kind = 77
            case .format: reply.pixel_format = 200
            case .shortMessage: break
            case .finishedTwice, .finishedFew:
                (reply.kind, reply.width, reply.height, reply.offset) = (10, 1_024, 1_024, 16 << 20)
                reply.code = self == .finishedFew ? 1 : 512
                if self == .finishedTwice { Self.send(reply, MemoryLayout<alcedo_sandbox_reply>.size) }
            case .givenUpTwice:
                reply.kind = 11
                Self.send(reply, MemoryLayout<alcedo_sandbox_reply>.size)
            case .flood: while true { Self.send(reply, MemoryLayout<alcedo_sandbox_reply>.size) }
            }
            Self.send(reply, self == .shortMessage ? 5 : MemoryLayout<alcedo_sandbox_reply>.size)
        }

        static func send(_ reply: alcedo_sandbox_reply, _ count: Int) {
            var reply = reply
            _ = AlcedoLibc.send(Int32(ALCEDO_SANDBOX_SOCKET), &reply, count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Misbehaves after the header of an image with many rows.
    enum RowForgery: String {
        /// Sends rows and does not read the messages of the app.
        case deaf = "rows deaf"
        /// Makes a forbidden system call while a message of the app is unread.
        case call = "rows call"
        /// Sends all rows at once.
        case piece = "rows piece"

        func run(_ consumer: any PixelRowConsumer) throws {
            let size = PixelSize(width: 40, height: 40_000)
            try consumer.begin(PixelRowHeader(size: size, format: .gray8, alphaMode: .opaque))
            var reply = alcedo_sandbox_reply()
            (reply.kind, reply.code) = (6, self == .piece ? UInt32(size.height) : 1)
            for _ in 0..<(self == .deaf ? size.height : 1) {
                Forgery.send(reply, MemoryLayout<alcedo_sandbox_reply>.size)
            }
            switch self {
            case .deaf: while true { AlcedoLibc.sleep(1_000) }
            case .call:
                // Waits until the message is there, and leaves it in the socket.
                var byte: UInt8 = 0
                _ = recv(Int32(ALCEDO_SANDBOX_SOCKET), &byte, 1, Int32(MSG_PEEK))
                ForbiddenCall.identity.run()
            case .piece: break
            }
        }
    }
#endif
