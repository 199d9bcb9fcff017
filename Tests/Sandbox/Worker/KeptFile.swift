#if Sandbox
    import AlcedoCore
    import AlcedoLibc

    /// Uses the file that the worker has opened before its confinement. Only tests that write the file have such a
    /// worker.
    enum KeptFile: String {
        /// Reads the file like FreeType, on two threads, and checks the access to it and to another file.
        case kept
        case keptForWriting
        /// Uses a listed file that does not exist.
        case keptMissing

        /// The worker is a child of the test. The value is needed before the confinement.
        private static let path = "/tmp/alcedo-sandbox-kept-\(getppid())"
        private static let missingPath = path + "-missing"

        /// Returns the files that the worker opens.
        static func prepare() -> [String] { access(path, R_OK) == 0 ? [missingPath, path] : [] }

        func run() throws(ImageDecodingError) {
            switch self {
            case .kept:
                let results = "\(access(Self.path, R_OK)) \(access("/etc/passwd", R_OK))"
                throw ImageDecodingError(.unsupportedVariant, "\(Self.text()) \(Self.textOfThread()) \(results)")
            case .keptForWriting: print(AlcedoLibc.open(Self.path, O_WRONLY))
            case .keptMissing: print(access(Self.missingPath, R_OK))
            }
        }

        /// Returns the content of the file, or the reason for which it cannot be read.
        private static func text() -> String {
            let file = AlcedoLibc.open(path, O_RDONLY)
            guard file >= 0 else { return "open \(errno)" }
            defer { close(file) }
            var status = stat()
            guard fcntl(file, F_SETFD, FD_CLOEXEC) == 0, fstat(file, &status) == 0 else { return "status \(errno)" }
            let count = Int(status.st_size)
            let mapping = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0)
            guard let address = mapping, address != UnsafeMutableRawPointer(bitPattern: -1) else {
                return "map \(errno)"
            }
            return String(decoding: UnsafeRawBufferPointer(start: address, count: count), as: UTF8.self)
        }

        /// Returns the content of the file, read on another thread.
        private static func textOfThread() -> String {
            let result = UnsafeMutablePointer<String>.allocate(capacity: 1)
            result.initialize(to: "")
            var thread = pthread_t()
            let error = pthread_create(
                &thread, nil,
                {
                    $0?.assumingMemoryBound(to: String.self).pointee = KeptFile.text()
                    return nil
                }, result)
            guard error == 0 else { return "thread \(error)" }
            pthread_join(thread, nil)
            return result.pointee
        }
    }
#endif
