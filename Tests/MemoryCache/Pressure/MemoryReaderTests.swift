import AlcedoCore
import FoundationEssentials
import Testing

@testable import AlcedoMemoryCache

@Suite struct MemoryReaderTests {
    private func read(_ system: FakeSystem) -> MemoryReadings {
        MemoryReader(files: SystemFiles(root: system.root)).read()
    }

    @Test func `a machine without any figures yields empty readings`() throws {
        #expect(try read(FakeSystem()) == MemoryReadings())
    }

    @Test func `cgroup v2 yields the events of the own group and the level of every limited group`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("high 1\nmax 2\noom 3\n", to: FakeSystem.group + "/memory.events")
        try system.write("max\n", to: FakeSystem.group + "/memory.high")
        try system.write("1000\n", to: FakeSystem.group + "/memory.max")
        try system.write("600\n", to: FakeSystem.group + "/memory.current")
        try system.write("anon 5\ninactive_file 100\nactive_file 7\n", to: FakeSystem.group + "/memory.stat")
        try system.write("5000\n", to: "/sys/fs/cgroup/app.slice/memory.high")
        try system.write("700\n", to: "/sys/fs/cgroup/app.slice/memory.current")

        #expect(read(system) == MemoryReadings(level: .normal, events: MemoryEvents(high: 1, max: 2, oom: 3)))

        try system.write("4500\n", to: "/sys/fs/cgroup/app.slice/memory.current")
        #expect(read(system).level == .warning)
        // 100 of them are inactive file cache.
        try system.write("1069\n", to: FakeSystem.group + "/memory.current")
        #expect(read(system).level == .warning)
        try system.write("1070\n", to: FakeSystem.group + "/memory.current")
        #expect(read(system).level == .critical)
    }

    @Test func `a group without a limit or without usage yields no level`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("max\n", to: FakeSystem.group + "/memory.max")
        try system.write("600\n", to: FakeSystem.group + "/memory.current")
        try system.write("0\n", to: "/sys/fs/cgroup/app.slice/memory.max")

        #expect(read(system).level == .normal)
    }

    @Test func `cgroup v1 yields its level`() throws {
        let system = try FakeSystem(FakeSystem.legacy)
        try system.write("1000\n", to: "/sys/fs/cgroup/memory/box/memory.limit_in_bytes")
        try system.write("950\n", to: "/sys/fs/cgroup/memory/box/memory.usage_in_bytes")
        try system.write("inactive_file 5\ntotal_inactive_file 50\n", to: "/sys/fs/cgroup/memory/box/memory.stat")
        #expect(read(system).level == .warning)
        try system.write("949\n", to: "/sys/fs/cgroup/memory/box/memory.usage_in_bytes")
        #expect(read(system).level == .normal)

        try system.write("0\n", to: "/sys/fs/cgroup/memory/box/memory.limit_in_bytes")
        #expect(read(system).level == .critical)
        try system.write("9223372036854771712\n", to: "/sys/fs/cgroup/memory/box/memory.limit_in_bytes")
        #expect(read(system).level == .normal)
    }

    @Test func `available memory is read only where stall times are not counted`() throws {
        let system = try FakeSystem(["/proc/meminfo": "MemTotal: 100 kB\nMemFree: 90 kB\nMemAvailable: 9 kB\n"])

        #expect(read(system).level == .warning)
        try system.write("some total=5\nfull total=3\n", to: "/proc/pressure/memory")
        #expect(read(system) == MemoryReadings(stalls: StallCount(some: 5, full: 3)))
    }

    @Test func `the stall times are those of the own group, or of the machine`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("some total=5\nfull total=3\n", to: "/proc/pressure/memory")
        #expect(read(system).stalls == StallCount(some: 5, full: 3))

        try system.write(
            "some avg10=1.00 avg60=0.50 avg300=0.10 total=70\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=60\n",
            to: FakeSystem.group + "/memory.pressure")
        #expect(read(system).stalls == StallCount(some: 70, full: 60))

        try system.write("some total=5\n", to: FakeSystem.group + "/memory.pressure")
        #expect(read(system).stalls == StallCount(some: 5, full: 3))
    }

    @Test func `the stall times of the group and of the machine are never compared`() throws {
        let system = try FakeSystem(FakeSystem.unified)
        try system.write("some total=9000000\nfull total=9000000\n", to: "/proc/pressure/memory")
        let early = MemoryReader(files: SystemFiles(root: system.root))
        try system.write("some total=70\nfull total=60\n", to: FakeSystem.group + "/memory.pressure")
        let late = MemoryReader(files: SystemFiles(root: system.root))

        #expect(early.read().stalls == StallCount(some: 9_000_000, full: 9_000_000))
        #expect(late.read().stalls == StallCount(some: 70, full: 60))
        try system.write("", to: FakeSystem.group + "/memory.pressure")
        #expect(late.read().stalls == nil)
    }

    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/proc/pressure/memory")))
    func `stall times are read where this machine counts them`() {
        #expect(MemoryReader(files: SystemFiles()).read().stalls != nil)
    }

    @Test(arguments: ["MemTotal: 100 kB\nMemFree: 1 kB\n", "MemAvailable: 1 kB\n"])
    func `available memory is unknown unless both figures exist`(text: String) throws {
        #expect(try read(FakeSystem(["/proc/meminfo": text])).level == .normal)
    }

    @Test(arguments: MalformedText.lines)
    func `malformed files yield empty readings`(text: [UInt8]) throws {
        let system = try FakeSystem(FakeSystem.unified)
        for name in ["high", "max", "current", "stat", "events"] {
            try system.write(Data(text), to: FakeSystem.group + "/memory." + name)
        }
        try system.write(Data(text), to: "/proc/meminfo")

        #expect(read(system) == MemoryReadings(level: .normal, events: MemoryEvents()))
    }
}
