@testable import AlcedoMemoryCache
import Testing

@Suite struct SystemMemoryTests {
    @Test(
        arguments: [
            (1000, nil, 150), (1000, 100, 15), (100, 1000, 15), (0, nil, 0), (-5, nil, 0), (1000, -5, 0), (1000, 0, 0),
            (99, nil, 14), (7, nil, 1), (6, nil, 0), (Int.max, Int.max, 768 << 20), (.max, nil, 768 << 20),
            (.min, .min, 0),
            (1 << 33, nil, 768 << 20), (1 << 33, 1 << 30, 161_061_273), (5_368_709_120, nil, 805_306_368),
            (5_368_709_119, nil, 805_306_367), (1 << 33, 5_368_709_127, 805_306_368),
        ] as [(Int, Int?, Int)])
    func `the default limit is 15 % of the smaller figure, within bounds`(physical: Int, limit: Int?, expected: Int) {
        #expect(SystemMemory.defaultCostLimit(physicalByteCount: physical, limitByteCount: limit) == expected)
    }

    @Test func `the smallest limit of the own group and its ancestors applies`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("MemTotal: 8192 kB\n", to: "/proc/meminfo")
        #expect(SystemMemory.current(root: system.root) == SystemMemory(physicalByteCount: 8 << 20))

        try system.write("max\n", to: FakeSystem.group + "/memory.high")
        try system.write("5000000\n", to: FakeSystem.group + "/memory.max")
        #expect(SystemMemory.current(root: system.root).limitByteCount == 5_000_000)

        try system.write("4000000\n", to: "/sys/fs/cgroup/app.slice/memory.high")
        try system.write("4500000\n", to: "/sys/fs/cgroup/app.slice/memory.max")
        #expect(SystemMemory.current(root: system.root).limitByteCount == 4_000_000)

        try system.write("3000000\n", to: "/sys/fs/cgroup/memory.max")
        #expect(SystemMemory.current(root: system.root).limitByteCount == 3_000_000)
    }

    @Test func `cgroup v1 limits of the group and its ancestors apply, and a huge limit is ignored`() throws {
        let system = try FakeSystem(FakeSystem.legacy)
        let group = "/sys/fs/cgroup/memory/box"
        try system.write("9223372036854771712\n", to: group + "/memory.limit_in_bytes")
        try system.write("hierarchical_memory_limit 9223372036854771712\n", to: group + "/memory.stat")
        #expect(SystemMemory.current(root: system.root).limitByteCount == nil)

        try system.write("6000\n", to: group + "/memory.limit_in_bytes")
        #expect(SystemMemory.current(root: system.root).limitByteCount == 6000)

        try system.write("cache 1\nhierarchical_memory_limit 5000\n", to: group + "/memory.stat")
        #expect(SystemMemory.current(root: system.root).limitByteCount == 5000)
    }

    @Test func `without any cgroup file the machine's memory applies`() throws {
        let memory = try SystemMemory.current(root: FakeSystem().root)
        #expect(memory.physicalByteCount > 0)
        #expect(memory.limitByteCount == nil)
    }

    @Test func `the default cost limit of this machine is between 1 byte and 768 MiB`() {
        let memory = SystemMemory.current()
        #expect(memory.physicalByteCount > 16 << 20)
        #expect((1...768 << 20).contains(MemoryCacheLimits.defaultCostLimit))
    }
}
