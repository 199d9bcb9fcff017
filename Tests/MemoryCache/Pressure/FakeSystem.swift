import FoundationEssentials
import TestSupport

/// A directory that replaces `/`, with the kernel's files that a test needs.
final class FakeSystem: Sendable {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    var root: String { directory.path }

    /// Writes files by their absolute paths.
    convenience init(_ files: [String: String]) throws {
        try self.init()
        for (path, text) in files { try write(text, to: path) }
    }

    func write(_ text: String, to path: String) throws { try write(Data(text.utf8), to: path) }

    func write(_ data: Data, to path: String) throws {
        let url = URL(filePath: root + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        // Written atomically, because a source may be reading.
        try data.write(to: url, options: .atomic)
    }

    /// Files of a process in the group `/app.slice/alcedo` of cgroup v2.
    static let unified = [
        "/proc/self/cgroup": "0::/app.slice/alcedo\n",
        "/proc/self/mountinfo": "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    ]

    /// The directory of that group.
    static let group = "/sys/fs/cgroup/app.slice/alcedo"

    /// Files of a process in the group `/box` of the cgroup v1 memory controller, and of irrelevant other controllers.
    static let legacy = [
        "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/box\n0::/\n",
        "/proc/self/mountinfo": "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n",
    ]
}
