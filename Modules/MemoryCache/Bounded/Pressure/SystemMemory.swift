import AlcedoLibc

/// The amount of memory that this process may use.
package struct SystemMemory: Sendable, Equatable {
    private static let maximumDefaultCostLimit = 768 << 20

    /// The memory of the machine, in bytes; 0 if it cannot be determined.
    package var physicalByteCount: Int
    /// The smallest limit of this process's control groups, in bytes; nil if there is none.
    ///
    /// With cgroup v2, the limits are `memory.max` and `memory.high` of the process's own group and of every visible
    /// ancestor. With cgroup v1, they are `memory.limit_in_bytes` of the own group and the hierarchical limit in
    /// `memory.stat`.
    package var limitByteCount: Int?

    /// Creates a value from the machine's memory and the limit of the control groups; nil for no limit.
    package init(physicalByteCount: Int, limitByteCount: Int? = nil) {
        (self.physicalByteCount, self.limitByteCount) = (physicalByteCount, limitByteCount)
    }

    /// Returns the memory of the machine and the limit of this process's control groups, which it reads from a few
    /// small files. Files that cannot be read are skipped.
    ///
    /// - Parameter root: The absolute path of the directory that stands for `/`. Default: `/`. Tests create a directory
    ///   of their own.
    /// - SeeAlso: admin-guide/cgroup-v2.rst ("Memory Interface Files"), admin-guide/cgroup-v1/memory.rst.
    package static func current(root: String = "/") -> SystemMemory {
        let files = SystemFiles(root: root)
        let groups = ControlGroups(files: files)
        var limits = groups.unified.flatMap { [$0 + "/memory.max", $0 + "/memory.high"] }
            .compactMap { files.contents($0).flatMap(KernelText.limit) }
        if let memory = groups.memory {
            let own = files.contents(memory + "/memory.limit_in_bytes").flatMap(KernelText.limit)
            let inherited = files.contents(memory + "/memory.stat")
                .flatMap { KernelText.limit(KernelText.number(after: "hierarchical_memory_limit", in: $0)) }
            limits += [own, inherited].compactMap { $0 }
        }
        let total = files.contents("/proc/meminfo").flatMap { KernelText.byteCount(after: "MemTotal:", in: $0) }
        return SystemMemory(physicalByteCount: total ?? countedPages(), limitByteCount: limits.min())
    }

    /// Returns 15 % of the smaller figure, rounded down, at least 0 and at most 768 MiB (805,306,368 bytes).
    package static func defaultCostLimit(physicalByteCount: Int, limitByteCount: Int?) -> Int {
        let smaller = max(0, min(physicalByteCount, limitByteCount ?? physicalByteCount))
        // Dividing by 100 first prevents an overflow for every figure.
        return min(smaller / 100 * 15 + smaller % 100 * 15 / 100, maximumDefaultCostLimit)
    }

    private static func countedPages() -> Int {
        let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
        guard pages > 0, size > 0 else { return 0 }
        let (bytes, overflows) = pages.multipliedReportingOverflow(by: size)
        return overflows ? 0 : bytes
    }
}

extension SystemMemory {
    /// Returns free memory of the process to the system. Does nothing if the C library has no `malloc_trim`.
    ///
    /// The C library retains freed memory: up to about sixty megabytes in one piece, and all free memory that lies
    /// below memory in use. The call takes milliseconds.
    static func releaseFreeMemory() {
        // The function is looked up at run time, because `malloc.h` is not part of the module and not every C library
        // has the function.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
}
