import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct CacheCommandTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    private var cache: URL { directory.url.appending(path: "alcedo") }

    private func fill() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let urls = ["/good.png", "/good.png?2"].map { origin.url(for: $0).absoluteString }
        #expect(try await alcedo.run(["load"] + urls + ["--output", directory.url.path]).status == 0)
    }

    /// Changes a byte of an entry.
    private func damage() throws {
        let files = try #require(FileManager.default.enumerator(at: cache, includingPropertiesForKeys: nil))
        // The index of two entries may be as large as an entry.
        let entries = files.compactMap { $0 as? URL }.filter {
            $0.lastPathComponent != "index" && (try? Data(contentsOf: $0).count) ?? 0 > 500
        }
        let entry = try #require(entries.first)
        var data = try Data(contentsOf: entry)
        data[data.startIndex + 100] ^= 1
        try data.write(to: entry)
    }

    private func object(_ words: [String]) async throws -> [String: Any] {
        let outcome = try await alcedo.run(["cache"] + words + ["--json"])
        #expect(outcome.problems == "")
        let found = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(found as? [String: Any])
    }

    @Test(arguments: ["index", "unfinished.txt", "ABC", "x"])
    func `a directory with other files is not a cache and stays unchanged`(name: String) async throws {
        let own = directory.url.appending(path: "own")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        try Data("my own".utf8).write(to: own.appending(path: name))
        let file = SampleImages.path("tiles.png")

        for words in [
            ["cache", "stat"], ["cache", "list"], ["cache", "verify"], ["cache", "trim", "--count", "0"],
            ["cache", "clear"], ["load", "--no-sheet", file],
        ] where words[0] == "cache" || name == "index" {
            let outcome = try await alcedo.run(words + ["--cache", own.path])
            #expect(outcome.status == 1, "\(words)")
            #expect(outcome.output == "", "\(words)")
            #expect(
                outcome.problems.contains("\(own.path)/ is not a cache directory: it contains '\(name)'"),
                "\(outcome.problems)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: own.path) == [name])
        #expect(try Data(contentsOf: own.appending(path: name)) == Data("my own".utf8))
    }

    @Test func `a cache without its empty directories is still a cache`() async throws {
        try await fill()
        try FileManager.default.removeItem(at: cache.appending(path: "unfinished"))

        #expect(try await object(["stat", "--cache", cache.path])["entries"] as? Int == 2)
    }

    @Test func `a missing cache is empty and is not created`() async throws {
        #expect(try await object(["stat"])["entries"] as? Int == 0)
        #expect(try await alcedo.run(["cache", "clear"]).output == "removed: 0 entries, 0 bytes\n")
        #expect(!FileManager.default.fileExists(atPath: cache.path))
    }

    @Test func `loaded images are counted, listed, trimmed and cleared`() async throws {
        try await fill()
        let stat = try await object(["stat"])
        #expect(stat["entries"] as? Int == 2)
        let bytes = try #require(stat["bytes"] as? Int)

        let list = try await alcedo.run(["cache", "list"])
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains("/good.png") })
        #expect(
            lines.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }.reduce(0, +) == bytes)

        #expect(try await object(["trim", "--count", "1"])["removed"] as? Int == 1)
        #expect(try await object(["stat"])["entries"] as? Int == 1)
        #expect(try await alcedo.run(["cache", "clear"]).output.hasPrefix("removed: 1 entries, "))
        #expect(try await object(["stat"])["bytes"] as? Int == 0)
    }

    @Test func `damage is found, reported and removed once`() async throws {
        try await fill()
        #expect(try await alcedo.run(["cache", "verify"]).status == 0)
        try damage()

        let verified = try await alcedo.run(["cache", "verify"])
        #expect(verified.status == 1)
        #expect(verified.output.contains("damaged, removed: "))
        #expect(verified.output.contains(", 1 damaged\n"))
        #expect(try await alcedo.run(["cache", "verify"]).status == 0)
        #expect(try await object(["stat"])["entries"] as? Int == 1)
    }

    @Test func `damage is reported in one line without other output`() async throws {
        try await fill()
        try damage()

        let verified = try await alcedo.run(["cache", "verify", "--quiet"])

        #expect(verified.status == 1)
        #expect(verified.output == "")
        #expect(verified.problems == "alcedo: damaged entries, removed: 1\n")
    }

    @Test(arguments: ["stat", "list", "verify", "clear"])
    func `a named directory that is not a cache is an error`(action: String) async throws {
        try Data().write(to: directory.url.appending(path: "file"))
        for (location, reason) in [("file", "Not a directory"), ("file/x", "Not a directory"), ("no", "No such file")] {
            let outcome = try await alcedo.run(["cache", action, "--cache", "\(directory.path)/\(location)"])
            #expect(outcome.status == 1, "\(location)")
            #expect(outcome.output == "", "\(location)")
            #expect(outcome.problems.hasPrefix("alcedo: "), "\(location)")
            #expect(outcome.problems.contains(reason), "\(location)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/no"))
    }

    @Test func `passwords are not printed`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let url = origin.url(for: "/good.png").absoluteString.replacing("://", with: "://user:s3cret@")
        #expect(try await alcedo.run(["load", url, "--no-sheet"]).status == 0)

        for format in [[], ["--json"]] {
            let output = try await alcedo.run(["cache", "list"] + format).output.replacing("\\/", with: "/")
            #expect(output.contains("/good.png"))
            #expect(!output.contains("s3cret"))
        }
    }

    @Test(arguments: [
        ["cache"], ["cache", "burn"], ["cache", "stat", "list"], ["cache", "trim"], ["cache", "stat", "--size", "1"],
        ["cache", "trim", "--size", "1T"], ["cache", "trim", "--size", "9999999999G"], ["cache", "stat", "--colour"],
    ])
    func `an invalid command line prints one line and exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(words)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: "))
        #expect(outcome.problems.split(separator: "\n").count == 1)
    }
}
