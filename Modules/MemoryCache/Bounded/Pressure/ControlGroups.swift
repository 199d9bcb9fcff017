/// Where the control files of this process's groups are.
///
/// Sources: admin-guide/cgroup-v2.rst, "Processes"; admin-guide/cgroup-v1/memory.rst; cgroups(7), "/proc files".
struct ControlGroups: Sendable, Equatable {
    /// Folders of cgroup v2: the own group first, then every ancestor up to the mount. Empty when there are none.
    private(set) var unified: [String] = []
    /// Folder of the own group of cgroup v1's memory controller.
    private(set) var memory: String?

    /// Longest path of a group that is believed, in bytes: Linux's PATH_MAX.
    private static let pathLimit = 4096

    init(files: SystemFiles) {
        self.init(
            groups: files.contents("/proc/self/cgroup") ?? [], mounts: files.contents("/proc/self/mountinfo") ?? [])
    }

    /// - Parameters:
    ///   - groups: The text of /proc/self/cgroup.
    ///   - mounts: The text of /proc/self/mountinfo.
    init(groups: [UInt8], mounts: [UInt8]) {
        let mounts = KernelText.lines(of: mounts).compactMap(MountEntry.init)
        for line in KernelText.lines(of: groups) {
            // Number, controllers, path; the path may hold colons of its own.
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let controllers = fields[1].split(separator: UInt8(ascii: ","))
            if fields[0].elementsEqual("0".utf8), controllers.isEmpty, unified.isEmpty {
                let isUnified: (MountEntry) -> Bool = { $0.fileSystem.elementsEqual("cgroup2".utf8) }
                unified = Self.folders(of: fields[2], in: mounts.filter(isUnified))
            } else if controllers.contains(where: { $0.elementsEqual("memory".utf8) }), memory == nil {
                let hasMemory: (MountEntry) -> Bool = { mount in
                    mount.fileSystem.elementsEqual("cgroup".utf8)
                        && mount.options.contains { $0.elementsEqual("memory".utf8) }
                }
                memory = Self.folders(of: fields[2], in: mounts.filter(hasMemory)).first
            }
        }
    }

    /// The folder of a group and of its ancestors, in the first mount that shows it.
    private static func folders(of path: ArraySlice<UInt8>, in mounts: [MountEntry]) -> [String] {
        let group = MountEntry.components(path)
        // Above the root of the namespace: no mount of ours shows this group.
        guard path.first == UInt8(ascii: "/"), path.count <= pathLimit, !leavesNamespace(group) else { return [] }
        let visible = mounts.filter { !leavesNamespace($0.root) }
        guard let mount = visible.first(where: { group.starts(with: $0.root) }) ?? visible.first else { return [] }
        // A container may be shown its own group alone, while its path is told as the host sees it.
        let below = group.starts(with: mount.root) ? Array(group.dropFirst(mount.root.count)) : []
        return (0...below.count).reversed().map { depth in
            String(decoding: below.prefix(depth).reduce(into: mount.point) { $0 += [0x2F] + $1 }, as: UTF8.self)
        }
    }

    private static func leavesNamespace(_ path: [[UInt8]]) -> Bool {
        path.contains { $0.elementsEqual("..".utf8) }
    }
}
