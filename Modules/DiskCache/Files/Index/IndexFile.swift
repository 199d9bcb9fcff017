import AlcedoCore
import AlcedoLibc

/// An open index file: a header, and records one behind the other. The last one that tells of an entry is right.
final class IndexFile: Sendable {
    static let name = "index"

    let descriptor: Descriptor
    /// Where the file was found. Only to look files up in.
    let directory: Descriptor
    let isWritable: Bool
    /// nil when there is none, or a damaged one: then only the file's lock is of use.
    let header: IndexHeader?
    private let device: dev_t
    private let node: ino_t

    /// - Parameters:
    ///   - path: Of a directory.
    ///   - makesFile: Whether an empty file is made where there is none, and a file that cannot be written to is
    ///     of no use.
    init(in path: String, makesFile: Bool) throws(SystemRefusal) {
        let flags = O_NONBLOCK
        directory = try Descriptor(opening: path, O_RDONLY | O_DIRECTORY)
        do {
            descriptor = try Descriptor(
                opening: Self.name, beneath: directory, flags | O_RDWR | (makesFile ? O_CREAT : 0))
            isWritable = true
        } catch {
            guard !makesFile, [EACCES, EROFS, EPERM].contains(error.number) else { throw error }
            descriptor = try Descriptor(opening: Self.name, beneath: directory, flags | O_RDONLY)
            isWritable = false
        }
        guard let status = descriptor.status, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemRefusal(number: EISDIR)
        }
        device = status.st_dev
        node = status.st_ino
        // One that cannot be read is of no more use than a damaged one: the entries tell.
        header = (try? descriptor.read(IndexHeader.size))?.withBytes { IndexHeader($0) }
    }

    /// Bytes of the file, and whether it has been replaced or removed. nil when the system does not say.
    var status: (size: Int, isGone: Bool)? { descriptor.status.map { (Int($0.st_size), $0.st_nlink == 0) } }

    /// Whether the name still leads to this file.
    func isAt(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == node
    }

    /// Waits for the file, at most `patience`. False when somebody else keeps it. Where the file system has no locks, nobody
    /// does.
    func lock(patience: Duration) -> Bool {
        guard !descriptor.lock(), errno == EWOULDBLOCK || errno == EINTR else { return true }
        var waited = 0
        var pause = 50
        // The kernel can wait for a lock, but not for at most so long. The thread is the cache's own.
        while Duration.microseconds(waited) < patience {
            usleep(UInt32(pause))
            if descriptor.lock() { return true }
            waited += pause
            pause = min(5_000, pause * 2)
        }
        return false
    }
}
