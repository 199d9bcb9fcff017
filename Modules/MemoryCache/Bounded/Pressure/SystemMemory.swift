import AlcedoLibc

/// How much memory this process may have.
package struct SystemMemory: Sendable, Equatable {
    private static let maximumDefaultCostLimit = 768 << 20

    /// Memory of the machine, in bytes; 0 when it cannot be told.
    package var physicalByteCount: Int
    /// The smallest limit of the control groups that this process is in, in bytes; nil when there is none.
    ///
    /// With cgroup v2 that is `memory.max` and `memory.high` of the own group and of every group above it that can be
    /// seen, with cgroup v1 `memory.limit_in_bytes` and what `memory.stat` tells about the groups above.
    package var limitByteCount: Int?

    /// What a machine has, and what its control group allows; nil for no such limit.
    package init(physicalByteCount: Int, limitByteCount: Int? = nil) {
        (self.physicalByteCount, self.limitByteCount) = (physicalByteCount, limitByteCount)
    }

    /// Reads the system's figures. A few small files; what cannot be read is passed over.
    ///
    /// - Parameter root: Absolute path of the folder that stands for `/`. A test makes a folder of its own.
    /// - SeeAlso: admin-guide/cgroup-v2.rst ("Memory Interface Files"), admin-guide/cgroup-v1/memory.rst.
    package static func current(root: String = "/") -> SystemMemory {
        let files = SystemFiles(root: root)
        let groups = ControlGroups(files: files)
        var limits = groups.unified.flatMap { [$0 + "/memory.max", $0 + "/memory.high"] }
            .compactMap { files.contents($0).flatMap(KernelText.limit) }
        if let memory = groups.memory {
            let own = files.contents(memory + "/memory.limit_in_bytes").flatMap(KernelText.limit)
            let inherited = files.contents(memory + "/memory.stat")
                .flatMap { KernelText.limit(after: "hierarchical_memory_limit", in: $0) }
            limits += [own, inherited].compactMap { $0 }
        }
        let total = files.contents("/proc/meminfo").flatMap { KernelText.byteCount(after: "MemTotal:", in: $0) }
        return SystemMemory(physicalByteCount: total ?? countedPages(), limitByteCount: limits.min())
    }

    /// 15 % of the smaller figure, rounded down, at least 0 and at most 768 MiB (805,306,368 bytes).
    package static func defaultCostLimit(physicalByteCount: Int, limitByteCount: Int?) -> Int {
        let smaller = max(0, min(physicalByteCount, limitByteCount ?? physicalByteCount))
        // Hundredths first: no figure is so large that it overflows.
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
    /// Gives the system back what the process has freed. The system's library keeps freed memory for itself, up to some
    /// sixty megabytes in one piece, and all that lies below something in use. Takes milliseconds.
    static func releaseFreeMemory() {
        // `malloc.h` is not part of the module, and not every library has the function.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
}
