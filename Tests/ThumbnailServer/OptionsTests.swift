import AlcedoCore
import AlcedoLibc
import AlcedoRedisCache
import AlcedoProgramSupport
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

struct OptionsTests {
    private func file(_ text: String) throws -> (directory: TemporaryDirectory, path: String) {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "file")
        try Data(text.utf8).write(to: file)
        try #require(chmod(file.path, 0o600) == 0)
        return (directory, file.path)
    }

    @Test func `the Redis options select the connection`() throws {
        let (directory, path) = try file("se cret\r\n\n")
        let options = try ServerOptions([
            "--redis-prefix", "p:", "--redis", "[::1]:99", "--redis-password-file", path, "--redis-user", "u",
            "--redis-database=3",
        ])
        #expect(
            options.stack.redis
                == RedisOptions(
                    address: .network(host: "::1", port: 99), username: "u", password: "se cret", database: 3,
                    prefix: "p:"))
        #expect(try ServerOptions(["--redis", "/run/s"]).stack.redis == RedisOptions(address: .socket("/run/s")))
        #expect(try ServerOptions([]).stack.redis == nil)
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [
        ["--redis-prefix", "p:"], ["--redis", "a:1", "--redis-user", "u"], ["--no-cache", "--redis", "a:1"],
        ["--redis", "a:1", "--redis-password-file", "/nowhere"],
        ["--redis", "a:1", "--redis-password-file", "/dev/null"], ["--redis", "a:1", "--redis-database", "x"],
    ])
    func `a Redis option without effect throws an error`(words: [String]) {
        #expect(throws: UsageError.self) { try ServerOptions(words) }
    }

    @Test func `the tolerance of damage follows the options`() throws {
        for (words, tolerance) in [
            ([], DamageTolerance.wrongPixels), (["--strict"], .harmless), (["--partial"], .missingPixels),
        ] {
            #expect(try ServerOptions(words).stack.limits.tolerance == tolerance)
        }
        #expect(throws: UsageError.self) { try ServerOptions(["--strict", "--partial"]) }
    }

    @Test func `the negotiated formats follow the option`() throws {
        #expect(try ServerOptions([]).stack.service.negotiatedFormats == ThumbnailFormat.negotiated)
        #expect(try ServerOptions(["--formats", "png,webp"]).stack.service.negotiatedFormats == [.png, .webp])
        for text in ["", "webp,", "gif", "plain", "auto", "webp jpeg"] {
            #expect(throws: UsageError.self, "\(text)") { try ServerOptions(["--formats", text]) }
        }
    }

    @Test(arguments: ["localhost:0", "example.org:80", "1.2.3:80", "::1"])
    func `a listening address that is not numeric is an error`(address: String) {
        #expect(throws: UsageError.self) { try ServerOptions(["--listen", address]) }
    }

    @Test func `an invalid cache directory is reported`() throws {
        let directory = try TemporaryDirectory()
        try Data().write(to: directory.url.appending(path: "file"))
        for (name, isProblem) in [("file", true), ("file/x", true), ("new/x", false)] {
            var options = try ServerOptions(["--cache", directory.url.appending(path: name).path])
            let problem = options.makeCacheDirectory()
            #expect((problem != nil) == isProblem, "\(name)")
            #expect((options.stack.cacheDirectory == nil) == isProblem, "\(name)")
        }
        var options = try ServerOptions(["--no-cache"])
        let problem = options.makeCacheDirectory()
        #expect(problem == nil)
    }

    @Test(arguments: ["", "originals", "pictures"])
    func `a cache directory that cannot be written is not read either, and the message says so`(name: String) throws {
        let directory = try TemporaryDirectory()
        // A file in place of a directory stays unusable for the superuser.
        let cache = directory.url.appending(path: "cache")
        if name.isEmpty {
            try Data().write(to: cache)
        } else {
            try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
            try Data().write(to: cache.appending(path: name))
        }
        var options = try ServerOptions(["--cache", cache.path])

        let found = options.makeCacheDirectory()

        let problem = try #require(found)
        #expect(problem.hasPrefix("caching on disk is disabled"))
        #expect(problem.contains(cache.path))
        #expect(options.stack.cacheDirectory == nil)
        #expect(options.stack.cacheDirectories.isEmpty)
    }

    @Test(arguments: [0o644, 0o604, 0o602, 0o666, 0o660, 0o620] as [mode_t])
    func `a secret that other users can read or write is refused`(mode: mode_t) throws {
        let (directory, path) = try file("0123456789abcdef")
        #expect(throws: Never.self) { try ServerOptions(["--key", path]) }
        try #require(chmod(path, mode) == 0)

        let error = #expect(throws: UsageError.self) { try ServerOptions(["--key", path]) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("other users can read or write it"))
        #expect(throws: UsageError.self) { try ServerOptions(["--redis", "a:1", "--redis-password-file", path]) }
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [0o640, 0o440] as [mode_t])
    func `a group can read a secret only if it belongs to root`(mode: mode_t) throws {
        let (directory, path) = try file("0123456789abcdef")
        try #require(chmod(path, mode) == 0)
        if geteuid() == 0 {
            #expect(throws: Never.self) { try ServerOptions(["--key", path]) }
            try #require(chown(path, 1, 0) == 0)
        }

        #expect(throws: UsageError.self) { try ServerOptions(["--key", path]) }
        #expect(throws: UsageError.self) { try ServerOptions(["--redis", "a:1", "--redis-password-file", path]) }
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [
        ([], Int.max), (["--listen", "127.0.0.5:1"], .max), (["--listen", "[::1]:1"], .max),
        (["--listen", "0.0.0.0:1"], 100), (["--listen", "[::]:1"], 100),
        (["--listen", "0.0.0.0:1", "--max-per-client", "0"], .max), (["--max-per-client", "7"], 7),
    ])
    func `connections of a client are limited unless a proxy is in front`(words: [String], limit: Int) throws {
        #expect(try ServerOptions(words).listening.maxConcurrentConnectionsPerClient == limit)
    }

    @Test func `the limits of originals are options`() throws {
        let options = try ServerOptions(["--max-pixels", "5", "--max-frames", "6", "--max-decoded", "8"])
        let limits = options.stack.limits.decoding
        #expect(limits.maximumPixelCount == 5)
        #expect(limits.maximumFrameCount == 6)
        #expect(limits.maximumByteCount == 8 << 20)
        // The server decodes first frames only, so their sum has no option.
        #expect(throws: UsageError.self) { try ServerOptions(["--max-total-pixels", "1"]) }
    }

    @Test(arguments: [
        "DecodingLimits.maximumPixelCount", "DecodingLimits.maximumByteCount", "DecodingLimits.maximumFrameCount",
        "DecodingLimits.maximumTotalPixelCount", "SandboxConfiguration.maximumOutputByteCount",
        "maximumDecodingByteCount",
    ])
    func `a message names an option of the server, or says that there is none`(property: String) throws {
        let text = ProblemText.text("the limit is 5 (\(property))", in: .server)

        #expect(!text.contains(property))
        let words = text.split { " ()".contains($0) }.map(String.init)
        if let option = words.first(where: { $0.hasPrefix("--") }) {
            #expect(throws: Never.self) { try ServerOptions([option, "5"]) }
        } else {
            #expect(text == "the limit is 5 (no option raises this limit)")
        }
    }

    @Test(arguments: [["--cache", "/x"], ["--cache-size", "5"], ["--memory", "5"]])
    func `contradicting cache options throw an error`(words: [String]) {
        #expect(throws: UsageError.self) { try ServerOptions(["--no-cache"] + words) }
        #expect(throws: UsageError.self) { try ServerOptions(words + ["--no-cache"]) }
    }

    @Test func `the response timeout limits the origin's, too`() throws {
        let options = try ServerOptions(["--timeout", "60", "--send-timeout", "5", "--max-sending", "3"])
        #expect(options.listening.responseTimeout == .seconds(60))
        #expect(options.stack.limits.idleTimeout == .seconds(60))
        // A decode in the sandbox ends before the response.
        #expect(ServerCodecs.timeLimit(options.stack) == .seconds(30))
        #expect(options.listening.sendingTimeout == .seconds(5))
        #expect(options.listening.maximumSendingByteCount == 3 << 20)
    }

    @Test func `a key can be read from a pipe`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        #expect(write(ends[1], "0123456789abcdef\n", 17) == 17)
        close(ends[1])
        defer { close(ends[0]) }

        #expect(throws: Never.self) { try KeyFile(path: "/dev/fd/\(ends[0])") }
    }

    @Test func `a signed URL is what the server accepts`() throws {
        let (directory, path) = try file("0123456789abcdef")
        let words = ["--key", path, "--allow", "a.test", "--max-side", "100"]
        let target = "/thumbnail?url=https://a.test/x&w=10&expires=9999999999"
        let options = try ServerOptions(words + ["--sign", target])
        guard case .sign(let text) = options.action else {
            Issue.record("nothing is signed")
            return
        }
        #expect(try text == URLSignature(key: Array("0123456789abcdef".utf8)).signed(target))

        for wrong in [
            "https://host/thumbnail?url=https://a.test/x&w=10", "thumbnail?url=https://a.test/x&w=10", "/thumbnail",
            "/other?url=https://a.test/x&w=10", "/thumbnail?url=https://a.test/x?a=1&b=2&w=10",
            "/thumbnail?url=https://a.test/x", "/thumbnail?w=10", "/thumbnail?url=https://b.test/x&w=10",
            "/thumbnail?url=https://a.test/x&w=101", "/thumbnail?url=https://a.test/x&w=10&expires=1",
            "/thumbnail?url=https://a.test/x&w=10&expires=soon", "/thumbnail?url=%zz&w=10",
            "/thumbnail?url=https://a.test/x&w=10&sig=12",
        ] {
            #expect(throws: UsageError.self, "\(wrong)") { try ServerOptions(words + ["--sign", wrong]) }
        }
        withExtendedLifetime(directory) {}
    }
}
