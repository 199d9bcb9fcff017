import AlcedoLibc
import FoundationEssentials
import Testing
@testable import AlcedoMemoryCache

@Suite(.timeLimit(.minutes(10)))
struct SystemFilesTests {
    private let system: FakeSystem
    private let files: SystemFiles

    init() throws {
        system = try FakeSystem()
        files = SystemFiles(root: system.root + "/")
    }

    @Test func `reading an unreadable file returns nil, and an empty file no bytes`() throws {
        try system.write("", to: "/empty")

        #expect(files.contents("/empty") == [])
        #expect(files.contents("/missing") == nil)
        #expect(files.contents("/") == nil)
        #expect(files.contents("/empty/below") == nil)
    }

    @Test func `a long file is truncated after its last whole line`() throws {
        let line = "MemTotal: 12345 kB\n"
        try system.write(String(repeating: line, count: 10000), to: "/long")

        let bytes = try #require(files.contents("/long"))

        #expect(bytes.count == SystemFiles.byteLimit / line.utf8.count * line.utf8.count)
        #expect(bytes.last == 0x0A)
    }

    @Test func `a long file with one line yields nothing`() throws {
        try system.write(String(repeating: "1", count: SystemFiles.byteLimit + 1), to: "/long")
        #expect(files.contents("/long") == [])
    }

    @Test func `reading a FIFO without a writer does not block`() {
        #expect(mkfifo(system.root + "/fifo", 0o600) == 0)
        #expect(files.contents("/fifo") == nil)
    }
}
