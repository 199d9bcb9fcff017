import AlcedoLibc

/// The size of a file, and the times of the last changes of its content and of its entry in the file system.
///
/// The second time, which no program can set, tells of a change that restores the first, and of a file that takes the place
/// of another by a new name. Neither the device nor the file's number is part of it: some file systems number files anew
/// whenever they are mounted.
package struct FileVersion: Sendable, Hashable, CustomStringConvertible {
    /// In bytes.
    private let size: Int
    /// In nanoseconds since 1970.
    private let modified: Int64
    /// In nanoseconds since 1970.
    private let changed: Int64
    /// Whether a later change can have no other times than these.
    package let isSettled: Bool

    /// Asks the file system for the version of the file that a path leads to, over links. One system call, which blocks as
    /// long as the file system does.
    ///
    /// A file that is not there, or that the process may not ask for, has a version of its own, which is not present.
    package init(path: String) {
        let before = Self.tick
        var status = stat()
        guard !path.utf8.contains(0), stat(path, &status) == 0 else {
            (size, modified, changed, isSettled) = (-1, 0, 0, true)
            return
        }
        (size, modified) = (Int(status.st_size), Self.nanoseconds(status.st_mtim))
        changed = Self.nanoseconds(status.st_ctim)
        isSettled = changed < before || changed > Self.tick
    }

    /// Returns the version of a file once it is settled, which takes up to a tick of the kernel's clock, ten milliseconds at
    /// most, after a change. Blocks.
    package static func settled(path: String) -> FileVersion {
        var version = FileVersion(path: path)
        // The kernel does not announce the ticks of its clock, so the thread sleeps between readings. The number of
        // readings is bounded, in case the clock stands still.
        for _ in 0..<20 where !version.isSettled {
            usleep(1_000)
            version = FileVersion(path: path)
        }
        return version
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.size == b.size && a.modified == b.modified && a.changed == b.changed
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(size)
        hasher.combine(modified)
        hasher.combine(changed)
    }

    package var isPresent: Bool { size >= 0 }

    package var description: String { "\(size),\(modified),\(changed)" }

    /// The time that the kernel gives to changes: that of its clock's last tick. Before the next one another change may get
    /// the same.
    private static var tick: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return nanoseconds(time)
    }

    /// A file system may give any number.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
