import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import Synchronization

/// A file that is being written where nobody looks for entries. Goes with the value, unless it was moved into its place.
///
/// It is locked while it is open, so that others can tell it from what a dead process left.
final class UnfinishedFile {
    // Process numbers come again, in containers at every start; what is left of a dead one must be in nobody's way.
    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private static let serial = Atomic<Int>(0)
    static let prefix = "entry-"

    private let directory: OpenDirectory
    private let name: String
    let descriptor: Descriptor
    private var isInPlace = false

    /// What ``init(in:)`` is refused with when it has to be tried again.
    static let removedBySweep = EBUSY

    /// Makes an empty file in a folder.
    init(in directory: OpenDirectory) throws(SystemError) {
        let serial = Self.serial.add(1, ordering: .relaxed).newValue
        name = "\(Self.prefix)\(Self.process)-\(serial)"
        self.directory = directory
        descriptor = try Descriptor(opening: name, beneath: directory.descriptor, O_RDWR | O_CREAT | O_EXCL)
        // Before it is locked, whoever sweeps takes it for what a dead process left. Where the file system has no locks, sweeps
        // find none either, and leave it.
        guard descriptor.lock() || errno != EWOULDBLOCK, descriptor.status?.st_nlink != 0 else {
            throw SystemError(number: Self.removedBySweep)
        }
    }

    deinit { if !isInPlace { _ = directory.descriptor.unlink(name) } }

    /// Gives the file a place, replacing what is there; nought, or why it has none.
    func move(to target: borrowing Descriptor, _ newName: UnsafePointer<CChar>) -> Int32 {
        let number = directory.descriptor.rename(name, to: target, newName)
        isInPlace = number == 0
        return number
    }

    /// The same with a path.
    func move(to path: String) throws(SystemError) {
        let number = directory.descriptor.rename(name, toPath: path)
        guard number == 0 else { throw SystemError(number: number) }
        isInPlace = true
    }
}

/// The folder that entries are written in, held open from one to the next: opening it costs as much as a twentieth of a
/// store of a few KB.
final class UnfinishedDirectory: Sendable {
    private let path: String
    private let opened = Locked<OpenDirectory?>(nil)

    init(_ path: String) { self.path = path }

    /// Makes an empty file.
    func makeFile() throws(SystemError) -> UnfinishedFile {
        if let opened = opened.withLock({ $0 }) {
            do throws(SystemError) {
                return try UnfinishedFile(in: opened)
            } catch {
                // Somebody has removed the folder; another one may have its name.
                guard error.number == ENOENT else { throw error }
            }
        }
        forget()
        let directory = try OpenDirectory(path)
        opened.withLock { $0 = directory }
        return try UnfinishedFile(in: directory)
    }

    /// Opens it anew for the next file: it may be another one now.
    func forget() { opened.withLock { $0 = nil } }
}

/// An open folder that several files share.
final class OpenDirectory: Sendable {
    let descriptor: Descriptor

    /// - Parameter path: Of a folder, not of a link to one: that is refused with `ENOTDIR`.
    init(_ path: String) throws(SystemError) {
        descriptor = try Descriptor(opening: path, Descriptor.onlyPath | O_NOFOLLOW)
    }
}
