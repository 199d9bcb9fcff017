import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct PartialFileTests {
    private let directory: TemporaryDirectory
    private let target: String

    init() throws {
        directory = try TemporaryDirectory()
        target = "\(directory.path)/picture"
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory.path)/\(name)"))
    }

    private func content(_ name: String = "picture") throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(directory.path)/\(name)")), as: UTF8.self)
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(.spawnsProcesses)
        func `a partial file of a killed process is removed by the next download to the same file`()
            async throws
        {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = target as String] in
                let transport = FakeTransport { request in
                    HTTPResponse(
                        head: HTTPResponseHead(url: request.url, status: 200),
                        body: HTTPBody(DeadlyBody(Array(repeating: Data("never".utf8), count: 100))))
                }
                let first = Downloader(transport: transport)
                // A second download to the same target, so that there is a second partial file.
                let other = try PartialFile(for: path)
                try other.append(Data("other".utf8))
                _ = try await first.download(DownloadRequest(try web("http://h/a")), to: path)
            }
            #expect(try names == [".picture.alcedo-part", ".picture.alcedo-part1"])
            #expect(try content(".picture.alcedo-part1").hasPrefix("nevernever"))

            let next = Downloader(transport: FakeTransport(body: Data("new".utf8)))
            _ = try await next.download(DownloadRequest(try web("http://h/a")), to: target)

            #expect(try content() == "new")
            #expect(try names == ["picture"])
        }
    #endif

    @Test func `a partial file that another process writes is left unchanged`() throws {
        let first = try PartialFile(for: target)
        try first.append(Data("first".utf8))
        let second = try PartialFile(for: target)
        try second.append(Data("second".utf8))
        #expect(try names == [".picture.alcedo-part", ".picture.alcedo-part1"])
        try first.moveIntoPlace()
        #expect(try content() == "first")
        // Its name is free, and the file that has it now belongs to another download.
        let third = try PartialFile(for: target)
        try third.append(Data("third".utf8))
        first.discard()
        #expect(try names == [".picture.alcedo-part", ".picture.alcedo-part1", "picture"])
        try second.moveIntoPlace()
        #expect(try content() == "second")
        try third.moveIntoPlace()
        #expect(try content() == "third")
        #expect(try names == ["picture"])
    }

    @Test func `a foreign file under the partial file's name is left unchanged`() throws {
        try write("mine", to: "mine")
        #expect(symlink("mine", "\(directory.path)/.picture.alcedo-part") == 0)
        #expect(link("\(directory.path)/mine", "\(directory.path)/.picture.alcedo-part1") == 0)
        #expect(mkfifo("\(directory.path)/.picture.alcedo-part2", 0o600) == 0)
        #expect(mkdir("\(directory.path)/.picture.alcedo-part3", 0o700) == 0)
        let file = try PartialFile(for: target)
        try file.append(Data("new".utf8))
        #expect(try names.contains(".picture.alcedo-part4"))
        try file.moveIntoPlace()
        #expect(try content("mine") == "mine")
        #expect(try content() == "new")
        #expect(try names.count == 6)
    }

    @Test func `a name too long for a suffix is hashed`() throws {
        let name = String(repeating: "ü", count: 127)
        let file = try PartialFile(for: "\(directory.path)/\(name)")
        try file.append(Data("x".utf8))
        #expect(try names.first?.hasSuffix(".alcedo-part") == true)
        try file.moveIntoPlace()
        #expect(try names == [name])
    }

    @Test func `releasing a partial file removes it`() throws {
        do {
            let file = try PartialFile(for: target)
            try file.append(Data("x".utf8))
        }
        #expect(try names == [])
    }

    @Test func `concurrent partial files of several threads are distinct`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let threads = BlockingExecutor(name: "test", maxConcurrent: 4)
            for number in 0..<200 {
                group.addTask { [target] in
                    try await threads.run {
                        let file = try PartialFile(for: target)
                        let text = String(repeating: "\(number),", count: 100)
                        try file.append(Data(text.utf8))
                        if number % 3 == 0 { file.discard() } else { try file.moveIntoPlace() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let parts = Set(try content().split(separator: ","))
        #expect(parts.count == 1)
        #expect(try names == ["picture"])
    }
}
