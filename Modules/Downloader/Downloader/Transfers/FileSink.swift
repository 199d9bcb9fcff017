import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// A sink that writes to a file. The complete content replaces the target file atomically, or the target is unchanged.
struct FileSink: ContentSink {
    private let threads: BlockingExecutor
    private let file: PartialFile
    private(set) var count = 0
    private(set) var beginning = Data()

    private init(path: String, threads: BlockingExecutor) async throws {
        self.threads = threads
        file = try await threads.run { try PartialFile(for: path) }
    }

    /// Creates or replaces a file with the bytes that `fill` writes to the sink. If this function throws, the file is
    /// unchanged.
    ///
    /// - Throws: ``DownloadError`` `unwritableFile`, `CancellationError`, or the error of `fill`.
    static func write(
        _ path: String, threads: BlockingExecutor, _ fill: (inout FileSink) async throws -> TransferSummary
    ) async throws -> TransferResult {
        var sink = try await FileSink(path: path, threads: threads)
        do {
            let summary = try await fill(&sink)
            try await threads.run { [file = sink.file] in try file.moveIntoPlace() }
            return TransferResult(byteCount: sink.count, summary: summary)
        } catch {
            await sink.discard()
            throw error
        }
    }

    mutating func append(_ piece: Data) async throws {
        try await threads.run { [file] in try file.append(piece) }
        count += piece.count
        beginning.append(piece.prefix(max(0, CodecRegistry.sniffedByteCount - beginning.count)))
    }

    func reserve(_ count: Int) {}

    mutating func removeAll() async throws {
        guard count > 0 else { return }
        try await threads.run { [file] in try file.removeAll() }
        (count, beginning) = (0, Data())
    }

    /// Removes the partial file, even if the current task is canceled.
    private func discard() async {
        await Task(executorPreference: threads.taskExecutor) { [threads, file] in
            // `run` throws only when it is canceled, and this task never is.
            try? await threads.run { file.discard() }
        }.value
    }
}

/// A temporary file in the directory of the target file. The file is removed when this object is released, unless it
/// was moved into place before. Methods block.
///
/// The name is derived from the target's name. The writing process holds a lock on the file (`flock`), which the system
/// releases when the process ends. A later download to the same target may therefore reuse or remove a file without a
/// lock, and no directory has to be searched for the files of dead processes.
///
/// The descriptor and the paths never change. Methods may be called from any thread, but not concurrently.
final class PartialFile: Sendable {
    /// The maximum number of concurrent downloads to one target.
    private static let maximumNameCount = 100

    private let target: String
    private let path: String
    private let file: Int32
    private let isMovedOrRemoved = Locked(false)

    /// Creates an empty temporary file for a target, or empties and reuses one that a dead process has left. Then
    /// removes other such files under the next numbers, up to the first unused number.
    ///
    /// - Throws: ``DownloadError`` `unwritableFile`.
    init(for target: String) throws(DownloadError) {
        guard !target.isEmpty, !target.utf8.contains(0) else {
            throw DownloadError(.unwritableFile, "invalid file path: \(target.excerpt.debugDescription)")
        }
        for number in 0..<Self.maximumNameCount {
            let path = Self.name(for: target, number)
            guard let file = try Self.claim(path, for: target) else { continue }
            (self.target, self.path, self.file) = (target, path, file)
            guard ftruncate(file, 0) == 0 else { throw Self.unwritable(target, errno) }
            Self.sweep(target, after: number)
            return
        }
        throw DownloadError(
            .unwritableFile, "cannot write \(target.excerpt): \(Self.maximumNameCount) other downloads are writing it")
    }

    deinit {
        discard()
        close(file)
    }

    /// Removes the file. Does nothing if it was moved into place, because the name may belong to another download by
    /// then.
    func discard() {
        let isPresent = isMovedOrRemoved.withLock { isMovedOrRemoved in
            defer { isMovedOrRemoved = true }
            return !isMovedOrRemoved
        }
        if isPresent { unlink(path) }
    }

    func append(_ piece: Data) throws(DownloadError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < 0 {
                guard errno == EINTR else { throw Self.unwritable(target, errno) }
                continue
            }
            rest = rest.dropFirst(written)
        }
    }

    func removeAll() throws(DownloadError) {
        guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else { throw Self.unwritable(target, errno) }
    }

    /// Writes the bytes to disk, then moves the file to its target, replacing an existing file.
    func moveIntoPlace() throws(DownloadError) {
        guard fdatasync(file) == 0, rename(path, target) == 0 else { throw Self.unwritable(target, errno) }
        isMovedOrRemoved.withLock { $0 = true }
    }

    // MARK: Names

    /// Returns the path of a temporary file for a target. The number is 0 for the first concurrent download, 1 for the
    /// second, and so on.
    private static func name(for target: String, _ number: Int) -> String {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { target.utf8.index(after: $0) } ?? target.startIndex
        var name = String(target[start...])
        // File names are limited to 255 bytes.
        if name.utf8.count > 200 {
            var hash = SHA256()
            hash.update(Array(name.utf8))
            name = hash.finalizedHexadecimal()
        }
        return "\(target[..<start]).\(name).alcedo-part\(number == 0 ? "" : String(number))"
    }

    /// Opens or creates a file, locks it and returns its descriptor. Returns nil if this download cannot use the name,
    /// for example because another download writes the file.
    ///
    /// - Throws: ``DownloadError`` `unwritableFile`.
    private static func claim(_ path: String, for target: String) throws(DownloadError) -> Int32? {
        // The loop continues only if another download has moved or removed the file between `open` and `flock`.
        for _ in 0..<maximumNameCount {
            let file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o666)
            guard file >= 0 else {
                let number = errno
                // The name belongs to a link, a directory, a pipe, or a file that this user cannot write.
                var status = stat()
                if [ELOOP, EISDIR, ENXIO, EACCES].contains(number), lstat(path, &status) == 0 { return nil }
                throw unwritable(target, number)
            }
            let (state, number) = (lockState(of: file, named: path), errno)
            if state == .ours { return file }
            close(file)
            switch state {
            case .ours, .moved: continue
            case .others: return nil
            // The file cannot be locked, for example because the file system does not support locks.
            case .unknown: throw unwritable(target, number)
            }
        }
        return nil
    }

    private enum LockState {
        case ours, others, moved, unknown
    }

    private static func lockState(of file: Int32, named path: String) -> LockState {
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return errno == EWOULDBLOCK ? .others : .unknown }
        var opened = stat()
        guard fstat(file, &opened) == 0,
            // Another owner of the file, or another name for it, would give others access to the content.
            opened.st_mode & S_IFMT == S_IFREG, opened.st_uid == geteuid()
        else { return .others }
        var named = stat()
        guard lstat(path, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev else {
            return .moved
        }
        return opened.st_nlink == 1 ? .ours : .others
    }

    /// Removes the files that dead processes left under names with greater numbers. Stops at the first name that cannot
    /// be opened.
    private static func sweep(_ target: String, after number: Int) {
        for next in (number + 1)..<max(number + 1, maximumNameCount) {
            let path = name(for: target, next)
            let file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            guard file >= 0 else { return }
            if lockState(of: file, named: path) == .ours { unlink(path) }
            close(file)
        }
    }

    private static func unwritable(_ target: String, _ number: Int32) -> DownloadError {
        DownloadError(.unwritableFile, "cannot write \(target.excerpt): \(String(cString: strerror(number)))")
    }
}
