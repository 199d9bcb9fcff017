import AlcedoCore
import AlcedoLibc
import Testing
@testable import AlcedoMemoryCache

@Suite(.timeLimit(.minutes(10)))
struct StallTriggersTests {
    private let system: FakeSystem

    init() throws { system = try FakeSystem() }

    @Test func `both triggers are written in one call each, with a final null byte`() {
        let path = system.root + "/pressure"
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }

        let triggers = StallTriggers(arming: path)

        let levels = triggers.armed.map(\.level)
        #expect(levels == [.warning, .critical])
        var bytes = [UInt8](repeating: 1, count: 200)
        let count = read(reader, &bytes, bytes.count)
        #expect(bytes.prefix(max(0, count)).elementsEqual("some 100000 2000000\0full 150000 2000000\0".utf8))
    }

    @Test func `a trigger that cannot be opened or written is skipped`() throws {
        for path in ["/missing", "/", "/below/missing"] {
            let armedCount = StallTriggers(arming: system.root + path).armed.count
            #expect(armedCount == 0)
        }
        // Can be opened, and refuses every write with a lack of space.
        let armedCount = StallTriggers(arming: "/dev/full").armed.count
        #expect(armedCount == 0)
    }

    @Test func `releasing the triggers closes their descriptors`() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        do {
            let triggers = StallTriggers(critical: ends[1])
            let armedCount = triggers.armed.count
            #expect(armedCount == 1)
        }

        // The end of the file, because there is no writer. With a writer it would be an error.
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
    }
}
