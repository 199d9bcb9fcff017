import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoMemoryCache

@Suite struct MemoryReaderTests {
    private func read(_ system: FakeSystem, includesAvailable: Bool = true) -> MemoryReadings {
        let files = SystemFiles(root: system.root)
        return MemoryReader(files: files, groups: ControlGroups(files: files)).read(
            includesAvailable: includesAvailable)
    }

    @Test func `a machine without any figures yields empty readings`() throws {
        #expect(try read(FakeSystem()) == MemoryReadings())
    }

    @Test func `cgroup v2 yields the events of the own group and the usage of every limited group`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("high 1\nmax 2\noom 3\n", to: FakeSystem.group + "/memory.events")
        try system.write("max\n", to: FakeSystem.group + "/memory.high")
        try system.write("1000\n", to: FakeSystem.group + "/memory.max")
        try system.write("600\n", to: FakeSystem.group + "/memory.current")
        try system.write("anon 5\ninactive_file 100\nactive_file 7\n", to: FakeSystem.group + "/memory.stat")
        try system.write("5000\n", to: "/sys/fs/cgroup/app.slice/memory.high")
        try system.write("700\n", to: "/sys/fs/cgroup/app.slice/memory.current")

        let readings = read(system)

        #expect(readings.events == MemoryEvents(high: 1, max: 2, oom: 3))
        #expect(
            readings.usages == [
                MemoryUsage(current: 500, inactiveFile: 0, max: 1000),
                MemoryUsage(current: 700, inactiveFile: 0, high: 5000),
            ])
        #expect(readings.available == nil)
    }

    @Test func `a group without a limit or without usage yields no usage`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("max\n", to: FakeSystem.group + "/memory.max")
        try system.write("600\n", to: FakeSystem.group + "/memory.current")
        try system.write("1000\n", to: "/sys/fs/cgroup/app.slice/memory.max")

        #expect(read(system).usages.isEmpty)
    }

    @Test func `cgroup v1 yields its usage`() throws {
        let system = try FakeSystem(FakeSystem.legacy)
        try system.write("1000\n", to: "/sys/fs/cgroup/memory/box/memory.limit_in_bytes")
        try system.write("950\n", to: "/sys/fs/cgroup/memory/box/memory.usage_in_bytes")
        try system.write("inactive_file 5\ntotal_inactive_file 50\n", to: "/sys/fs/cgroup/memory/box/memory.stat")
        #expect(read(system).usages == [MemoryUsage(current: 900, inactiveFile: 0, max: 1000)])

        try system.write("9223372036854771712\n", to: "/sys/fs/cgroup/memory/box/memory.limit_in_bytes")
        #expect(read(system).usages.isEmpty)
    }

    @Test func `available memory is read only on request`() throws {
        let system = try FakeSystem(["/proc/meminfo": "MemTotal: 10 kB\nMemAvailable: 5 kB\n"])

        #expect(read(system).available == AvailableMemory(available: 5120, total: 10240))
        #expect(read(system, includesAvailable: false).available == nil)
    }

    @Test(arguments: MalformedText.lines)
    func `malformed files yield empty readings`(text: [UInt8]) throws {
        let system = try FakeSystem(FakeSystem.unified)
        for name in ["high", "max", "current", "stat", "events"] {
            try system.write(Data(text), to: FakeSystem.group + "/memory." + name)
        }
        try system.write(Data(text), to: "/proc/meminfo")

        let readings = read(system)

        #expect(readings.level == .normal && readings.usages.isEmpty && readings.available == nil)
        #expect(readings.events == MemoryEvents())
    }
}
