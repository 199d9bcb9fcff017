import AlcedoLibc

/// The size of a file, and the times of the last changes to its content and to its status (`st_mtim`, `st_ctim`).
///
/// Programs cannot set the time of the status change. It reveals a change after which `st_mtim` was restored, and a
/// file that was renamed over another. The device and inode numbers are not part of the version, because some file
/// systems assign new numbers at each mount.
package struct FileVersion: Sendable, Hashable, CustomStringConvertible {
    /// The size in bytes; -1 for a missing file.
    private let size: Int
    /// The time of the last change to the content, in nanoseconds since 1970.
    private let modified: Int64
    /// The time of the last change to the status, in nanoseconds since 1970.
    private let changed: Int64
    /// Whether every later change to the file gets a different time.
    package let isSettled: Bool

    /// Reads the version of the file at a path, following symbolic links. Makes one system call, which blocks for as
    /// long as the file system does.
    ///
    /// For a file that is missing, or that the process may not examine, ``isPresent`` is false.
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

    /// Returns the version of a file once it is settled. This takes up to one tick of the kernel's clock after a
    /// change, at most ten milliseconds. If the file keeps changing or the clock stands still, the last version is
    /// returned although it is not settled. Blocks.
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

    /// The current timestamp of the kernel for changes: the time of its clock's last tick. All changes before the next
    /// tick get the same timestamp.
    private static var tick: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return nanoseconds(time)
    }

    /// Returns a time in nanoseconds since 1970. Wraps around on overflow, because a file system may report any number.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
