import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Existing files are kept unless overwriting is requested, and no incomplete file remains.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct OverwriteTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program
    private let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
        output = directory.url.appending(path: "out")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    }

    private static let file = SampleImages.path("dunes.jpg")

    private static let writers: [(command: [String], result: String)] = [
        (["load"], "contact-sheet.png"), (["load"], "1-dunes.jpg.png"), (["thumbnail", "--size", "9"], "dunes.jpg"),
        (["convert", "--format", "webp"], "dunes.webp"), (["decode"], "dunes.pam"), (["decode"], "dunes+0003.pam"),
    ]

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: output.path).sorted()
    }

    @Test(arguments: writers.indices)
    func `without force nothing begins when a result exists`(index: Int) async throws {
        let (command, result) = Self.writers[index]
        let old = Data("old".utf8)
        try old.write(to: output.appending(path: result))

        let rejected = try await alcedo.run(command + [Self.file, "--output", output.path])
        #expect(rejected.status == 1)
        #expect(rejected.output == "")
        #expect(rejected.problems == "alcedo: \(output.path)/\(result) already exists; use --force to replace it\n")
        #expect(try names() == [result])
        #expect(try Data(contentsOf: output.appending(path: result)) == old)

        let forced = try await alcedo.run(command + [Self.file, "--force", "--output", output.path])
        #expect(forced.status == 0, "\(forced.problems)")
        if !result.contains("+") { #expect(try Data(contentsOf: output.appending(path: result)) != old) }
    }

    @Test func `an option that takes no value fails with one, and writes no file`() async throws {
        let file = output.appending(path: "dunes.jpg")
        try Data("old".utf8).write(to: file)

        let outcome = try await alcedo.run(
            ["thumbnail", "--force=false", Self.file, "--size", "64", "--output", output.path])

        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("alcedo: --force does not take a value"))
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func `an overwritten file keeps its permissions`() async throws {
        let secret = output.appending(path: "dunes.webp")
        try Data("old".utf8).write(to: secret)
        #expect(chmod(secret.path, 0o600) == 0)

        let outcome = try await alcedo.run(
            ["convert", Self.file, "--format", "webp", "--force", "--output", output.path])

        #expect(outcome.status == 0)
        var status = stat()
        #expect(stat(secret.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_size > 3)
    }

    @Test func `an overwritten file keeps its group, or the group loses access`() async throws {
        let file = output.appending(path: "dunes.webp")
        try Data("old".utf8).write(to: file)
        let others = (0..<UInt32(64)).filter { $0 != getgid() }
        // Only root and members of another group may change a file's group.
        guard let group = others.first(where: { chown(file.path, getuid(), $0) == 0 }) else { return }
        #expect(chmod(file.path, 0o640) == 0)

        let outcome = try await alcedo.run(
            ["convert", Self.file, "--format", "webp", "--force", "--output", output.path])

        #expect(outcome.status == 0)
        var status = stat()
        #expect(stat(file.path, &status) == 0)
        #expect(status.st_size > 3)
        #expect(status.st_gid == group)
        #expect(status.st_mode & 0o777 == 0o640)
    }

    @Test func `several existing results are reported in one line`() async throws {
        let words = ["thumbnail", Self.file, Self.file, Self.file, "--size", "9", "--output", output.path]
        #expect(try await alcedo.run(words).status == 0)

        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 1)
        #expect(
            outcome.problems
                == "alcedo: \(output.path)/dunes.jpg and 2 more already exist; use --force to replace them\n")
    }

    @Test func `a sheet in the working directory is not overwritten either`() async throws {
        let sheet = output.appending(path: "sheet.png")
        try Data("old".utf8).write(to: sheet)

        let rejected = try await alcedo.run(["contact-sheet", Self.file, "--output", sheet.path])
        #expect(rejected.status == 1)
        #expect(rejected.problems.contains("already exists; use --force to replace it"))
        #expect(try await alcedo.run(["contact-sheet", Self.file, "-f", "-o", sheet.path]).status == 0)
        #expect(try Data(contentsOf: sheet).count > 100)
    }

    @Test func `a dangling link counts as existing, and only regular files are overwritten`() async throws {
        let link = output.appending(path: "dunes.webp")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "nowhere")
        let words = ["convert", Self.file, "--format", "webp", "--output", output.path]
        #expect(try await alcedo.run(words).status == 1)
        #expect(try await alcedo.run(words + ["--force"]).status == 0)
        #expect(try names() == ["dunes.webp"])

        let device = try await alcedo.run(["contact-sheet", Self.file, "--force", "--output", "/dev/null"])
        #expect(device.status == 1)
        #expect(device.problems == "alcedo: cannot write /dev/null: not a regular file\n")
    }

    @Test(arguments: [["thumbnail", "--size", "9"], ["convert", "--format", "jpeg"]])
    func `an image is not overwritten by its own result, even with force`(command: [String]) async throws {
        let own = output.appending(path: "own.jpg")
        let dunes = try SampleImages.data("dunes.jpg")
        try dunes.write(to: own)

        for force in [[], ["--force"]] {
            let outcome = try await alcedo.run(command + [own.path, "--output", output.path] + force)
            #expect(outcome.status == 1)
            #expect(outcome.problems.contains("it is one of the input images"))
        }
        #expect(try Data(contentsOf: own) == dunes)
        #expect(try names() == ["own.jpg"])
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `each written file is complete however a run ends`(signal: Int32) async throws {
        let content = try ChangingContent(seed: 3, stall: 1 << 20)
        let origin = try LoopbackOrigin { content.reply(to: $0) }
        defer { origin.stop() }
        let many = Array(repeating: Self.file, count: 400)
        let stalled = origin.url(for: "/big.png").absoluteString
        let run = try alcedo.start(
            ["convert", "--no-cache", "--timeout", "300", "--format", "webp", "--output", output.path]
                + many + [stalled])
        try await run.waitUntil("three files are written") { try names().count >= 3 }

        run.process.send(signal)

        let outcome = try await run.outcome()
        #expect(outcome.status == (signal == SIGINT ? 130 : -SIGKILL))
        let word = signal == SIGINT ? "alcedo: interrupted: \(try names().count) of 401 written\n" : ""
        #expect(outcome.output == "")
        #expect(outcome.problems == word)
        for name in try names() {
            #expect(name.hasPrefix("dunes"))
            #expect(name.hasSuffix(".webp"))
            let data = try Data(contentsOf: output.appending(path: name))
            _ = try CodecRegistry.standard.decode(data)
        }
    }
}
