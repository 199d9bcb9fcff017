import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import Synchronization

/// A temporary file outside the entries' directories. Releasing the object removes the file unless it was moved to its
/// final place.
///
/// On a file system with locks, the file is locked. So a sweep can distinguish the file from an abandoned one, whose
/// process has ended.
final class UnfinishedFile {
    // Process identifiers are reused. In containers, they are reused at every start. A random identifier avoids the
    // names of abandoned files.
    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private static let serial = Atomic<Int>(0)
    static let prefix = "entry-"

    private let directory: OpenDirectory
    private let name: String
    let descriptor: Descriptor
    private var isInPlace = false

    /// The error number of ``init(in:)`` if a sweep removes the new file. The caller should then try again.
    static let removedBySweep = EBUSY

    /// Creates an empty file in a directory, and locks it if the file system has locks.
    ///
    /// - Throws: The error of the system, or ``removedBySweep`` if a concurrent sweep has taken the file for an
    ///   abandoned one.
    init(in directory: OpenDirectory) throws(SystemError) {
        let serial = Self.serial.add(1, ordering: .relaxed).newValue
        name = "\(Self.prefix)\(Self.process)-\(serial)"
        self.directory = directory
        descriptor = try Descriptor(opening: name, beneath: directory.descriptor, O_RDWR | O_CREAT | O_EXCL)
        // Before the file is locked, a concurrent sweep may take it for an abandoned one. On a file system without
        // locks, a sweep cannot lock the file either, so it does not remove the file.
        guard descriptor.lock() || errno != EWOULDBLOCK, descriptor.status?.st_nlink != 0 else {
            throw SystemError(number: Self.removedBySweep)
        }
    }

    deinit { if !isInPlace { _ = directory.descriptor.unlink(name) } }

    /// Moves the file to its final place, replacing an existing file. Returns zero, or the error number.
    func move(to target: borrowing Descriptor, _ newName: UnsafePointer<CChar>) -> Int32 {
        let number = directory.descriptor.rename(name, to: target, newName)
        isInPlace = number == 0
        return number
    }

    /// Moves the file to a path, replacing an existing file.
    func move(to path: String) throws(SystemError) {
        let number = directory.descriptor.rename(name, toPath: path)
        guard number == 0 else { throw SystemError(number: number) }
        isInPlace = true
    }
}

/// The directory of temporary files. It stays open between stores, to save the time of opening it.
final class UnfinishedDirectory: Sendable {
    private let path: String
    private let hook: FileHook?
    private let opened = Locked<OpenDirectory?>(nil)

    /// - Parameters:
    ///   - path: The path of the directory.
    ///   - hook: A closure that may let operations on the files fail.
    init(_ path: String, hook: FileHook?) {
        self.path = path
        self.hook = hook
    }

    /// Creates an empty file.
    func makeFile() throws(SystemError) -> UnfinishedFile {
        if let opened = opened.withLock({ $0 }) {
            do throws(SystemError) {
                return try UnfinishedFile(in: opened)
            } catch {
                // The directory was removed. Another one may have its name.
                guard error.number == ENOENT else { throw error }
            }
        }
        forget()
        let directory = try OpenDirectory(path, hook: hook)
        opened.withLock { $0 = directory }
        return try UnfinishedFile(in: directory)
    }

    /// Releases the directory. The directory closes once no file uses it. The next ``makeFile()`` opens the path again,
    /// because another directory may have its name.
    func forget() { opened.withLock { $0 = nil } }
}

/// An open directory that several files share.
final class OpenDirectory: Sendable {
    let descriptor: Descriptor

    /// Opens a directory. A symbolic link fails with `ENOTDIR`.
    init(_ path: String, hook: FileHook?) throws(SystemError) {
        descriptor = try Descriptor(opening: path, Descriptor.onlyPath | O_NOFOLLOW, hook: hook)
    }
}
