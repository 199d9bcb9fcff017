import AlcedoCore
import Glibc
import Synchronization

/// A file that is being written where nobody looks for entries. Goes with the value, unless it was moved into its place.
///
/// It is locked while it is open, so that others can tell it from what a dead process left.
final class UnfinishedFile {
    // Process numbers come again, in containers at every start; what is left of a dead one must be in nobody's way.
    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private static let serial = Atomic<Int>(0)
    static let prefix = "entry-"

    let path: String
    let descriptor: Descriptor
    private var isInPlace = false

    /// What ``init(in:)`` is refused with when it has to be tried again.
    static let sweptAway = EBUSY

    /// Makes an empty file in `folder`, which must be there.
    init(in folder: String) throws(SystemRefusal) {
        let serial = Self.serial.add(1, ordering: .relaxed).newValue
        path = "\(folder)/\(Self.prefix)\(Self.process)-\(serial)"
        descriptor = try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        // Before it is locked, whoever sweeps takes it for what a dead process left. Where the file system has no locks, sweeps
        // find none either, and leave it.
        guard descriptor.lock() || errno != EWOULDBLOCK, descriptor.status?.st_nlink != 0 else {
            throw SystemRefusal(number: Self.sweptAway)
        }
    }

    deinit { if !isInPlace { unlink(path) } }

    /// Gives the file a place, replacing what is there.
    func move(to target: UnsafePointer<CChar>) throws(SystemRefusal) {
        guard rename(path, target) == 0 else { throw SystemRefusal(number: errno) }
        isInPlace = true
    }
}
