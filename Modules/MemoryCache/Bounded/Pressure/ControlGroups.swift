/// The directories with the control files of this process's control groups.
///
/// Sources: admin-guide/cgroup-v2.rst, "Processes"; admin-guide/cgroup-v1/memory.rst; cgroups(7), "/proc files".
struct ControlGroups: Sendable, Equatable {
    /// The directories of cgroup v2: the process's own group first, then every ancestor up to the mount. Empty if there
    /// are none.
    private(set) var unified: [String] = []
    /// The directory of the process's own group in cgroup v1's memory controller; nil if there is none.
    private(set) var memory: String?

    /// The maximum length of a group's path, in bytes: Linux's PATH_MAX. Longer paths are ignored.
    private static let pathLimit = 4096

    init(files: SystemFiles) {
        self.init(
            groups: files.contents("/proc/self/cgroup") ?? [], mounts: files.contents("/proc/self/mountinfo") ?? [])
    }

    /// Finds the directories in the texts of two files.
    ///
    /// - Parameters:
    ///   - groups: The text of /proc/self/cgroup.
    ///   - mounts: The text of /proc/self/mountinfo.
    init(groups: [UInt8], mounts: [UInt8]) {
        let mounts = KernelText.lines(of: mounts).compactMap(MountEntry.init)
        for line in KernelText.lines(of: groups) {
            // The fields are number, controllers and path. The path may contain colons.
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 3 else { continue }
            if fields[0] == "0", fields[1].isEmpty, unified.isEmpty {
                unified = Self.directories(of: fields[2], in: mounts.filter { $0.fileSystem == "cgroup2" })
            } else if fields[1].split(separator: ",").contains("memory"), memory == nil {
                let mounts = mounts.filter { $0.fileSystem == "cgroup" && $0.options.contains("memory") }
                memory = Self.directories(of: fields[2], in: mounts).first
            }
        }
    }

    /// Returns the directories of a group and of its ancestors, the group's own first, in the first mount that contains
    /// the group. If no mount contains it, returns only the first mount point. Returns an empty array if there is no
    /// visible mount or the path is invalid.
    private static func directories(of path: String, in mounts: [MountEntry]) -> [String] {
        let group = MountEntry.components(path)
        // No visible mount contains a group above the root of the namespace.
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= pathLimit, !group.contains("..") else {
            return []
        }
        let visible = mounts.filter { !$0.root.contains("..") }
        guard let mount = visible.first(where: { group.starts(with: $0.root) }) ?? visible.first else { return [] }
        // In a container, the mount may contain only the container's own group, while the path of the group is its path
        // on the host.
        let below = group.starts(with: mount.root) ? group.dropFirst(mount.root.count) : []
        return (0...below.count).reversed().map { depth in
            below.prefix(depth).reduce(mount.point) { "\($0)/\($1)" }
        }
    }
}

/// The parts of a line of /proc/self/mountinfo that control groups need.
///
/// Source: filesystems/proc.rst, "/proc/<pid>/mountinfo"; proc_pid_mountinfo(5).
private struct MountEntry {
    /// The components of the mounted directory's path within its file system.
    var root: [String]
    /// The mount point, without a slash at the end.
    var point: String
    var fileSystem: String
    /// The options of the file system. For cgroup v1, they name its controllers.
    var options: [Substring]

    /// Parses a line. Returns nil if the line does not have the expected format.
    init?(_ line: ArraySlice<UInt8>) {
        let words = KernelText.words(of: line).map(Self.unescaped)
        // Any number of optional fields precede the dash.
        guard words.count >= 10, let dash = words[6...].firstIndex(of: "-"), words.count >= dash + 4,
            words[4].utf8.first == UInt8(ascii: "/")
        else { return nil }
        root = Self.components(words[3])
        point = words[4].utf8.last == UInt8(ascii: "/") ? String(words[4].dropLast()) : words[4]
        fileSystem = words[dash + 1]
        options = words[dash + 3].split(separator: ",")
    }

    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Decodes the octal escapes of spaces, tabs, line feeds and backslashes.
    private static func unescaped(_ word: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = byte == UInt8(ascii: "\\") && digits.count == 3
            guard isEscape, digits.allSatisfy({ (0x30...0x37).contains($0) }) else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }))
            rest = rest.dropFirst(3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
