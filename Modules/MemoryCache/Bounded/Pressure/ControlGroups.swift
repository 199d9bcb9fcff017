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
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: UInt8(ascii: ","))
            if fields[0].elementsEqual("0".utf8), controllers.isEmpty, unified.isEmpty {
                let isUnified: (MountEntry) -> Bool = { $0.fileSystem.elementsEqual("cgroup2".utf8) }
                unified = Self.directories(of: fields[2], in: mounts.filter(isUnified))
            } else if controllers.contains(where: { $0.elementsEqual("memory".utf8) }), memory == nil {
                let hasMemory: (MountEntry) -> Bool = { mount in
                    mount.fileSystem.elementsEqual("cgroup".utf8)
                        && mount.options.contains { $0.elementsEqual("memory".utf8) }
                }
                memory = Self.directories(of: fields[2], in: mounts.filter(hasMemory)).first
            }
        }
    }

    /// Returns the directories of a group and of its ancestors, the group's own first, in the first mount that contains
    /// the group. If no mount contains it, returns only the first mount point. Returns an empty array if there is no
    /// visible mount or the path is invalid.
    private static func directories(of path: ArraySlice<UInt8>, in mounts: [MountEntry]) -> [String] {
        let group = MountEntry.components(path)
        // No visible mount contains a group above the root of the namespace.
        guard path.first == UInt8(ascii: "/"), path.count <= pathLimit, !leavesNamespace(group) else { return [] }
        let visible = mounts.filter { !leavesNamespace($0.root) }
        guard let mount = visible.first(where: { group.starts(with: $0.root) }) ?? visible.first else { return [] }
        // In a container, the mount may contain only the container's own group, while the path of the group is its path
        // on the host.
        let below = group.starts(with: mount.root) ? Array(group.dropFirst(mount.root.count)) : []
        return (0...below.count).reversed().map { depth in
            String(decoding: below.prefix(depth).reduce(into: mount.point) { $0 += [0x2F] + $1 }, as: UTF8.self)
        }
    }

    private static func leavesNamespace(_ path: [[UInt8]]) -> Bool {
        path.contains { $0.elementsEqual("..".utf8) }
    }
}

/// The parts of a line of /proc/self/mountinfo that control groups need.
///
/// Source: filesystems/proc.rst, "/proc/<pid>/mountinfo"; proc_pid_mountinfo(5).
private struct MountEntry: Equatable {
    /// The components of the mounted directory's path within its file system.
    var root: [[UInt8]]
    /// The mount point, without a slash at the end.
    var point: [UInt8]
    var fileSystem: [UInt8]
    /// The options of the file system. For cgroup v1, they name its controllers.
    var options: [[UInt8]]

    /// Parses a line. Returns nil if the line does not have the expected format.
    init?(_ line: ArraySlice<UInt8>) {
        let words = KernelText.words(of: line)
        // Any number of optional fields precede the dash.
        guard words.count >= 10, let dash = words[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            words.count >= dash + 4, words[4].first == UInt8(ascii: "/")
        else { return nil }
        root = Self.components(Self.unescaped(words[3])[...])
        point = Self.unescaped(words[4])
        if point.last == UInt8(ascii: "/") { point.removeLast() }
        fileSystem = Array(words[dash + 1])
        options = words[dash + 3].split(separator: UInt8(ascii: ",")).map(Array.init)
    }

    static func components(_ path: ArraySlice<UInt8>) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    /// Decodes the octal escapes of spaces, tabs, line feeds and backslashes.
    private static func unescaped(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x37 }) {
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }))
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
