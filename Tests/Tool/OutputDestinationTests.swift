import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Possible and impossible destinations, which are checked before any work.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct OutputDestinationTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    private static let file = SampleImages.path("tiles.png")

    @Test func `a file that another program removes during the run does not count as written`() async throws {
        let output = directory.url.appending(path: "out")
        let image = try Data(contentsOf: URL(filePath: Self.file))
        // The second image is requested when the first one has been written.
        let origin = try LoopbackOrigin { _ in
            try? FileManager.default.removeItem(at: output.appending(path: "tiles.png"))
            return OriginReply(body: image)
        }
        defer { origin.stop() }

        let outcome = try await alcedo.run([
            "thumbnail", "--size", "9", "--format", "png", "--jobs", "1", "--output", output.path, Self.file,
            origin.url(for: "/second.png").absoluteString,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("thumbnails: 1 written, 1 failed"), "\(outcome.output)")
        #expect(outcome.problems.contains("tiles.png was written, and removed by another program during the run"))
    }

    @Test(arguments: [
        ["thumbnail", "--size", "9"], ["convert", "--format", "png"], ["decode"], ["load"], ["contact-sheet"],
    ])
    func `a directory that cannot be created is reported in one line, and nothing is loaded`(command: [String])
        async throws
    {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let taken = directory.url.appending(path: "a-file")
        try Data("not a directory".utf8).write(to: taken)
        let location = command == ["contact-sheet"] ? taken.path + "/sheet.png" : taken.path

        let outcome = try await alcedo.run(
            command + [origin.url(for: "/good.jpg").absoluteString, Self.file, "--output", location])

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: cannot write \(taken.path): "))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        #expect(origin.requests.isEmpty)
    }

    @Test(arguments: [
        ["convert", "--format", "png", "-o", "x.bmp"], ["decode", "-o", "x.png"], ["load", "-o", "x.png"],
        ["thumbnail", "--size", "9", "-o", "x.jpg"], ["contact-sheet", "-o", "x.jpg"], ["contact-sheet", "-o", "x/"],
        ["contact-sheet", "-o", "x.bmp"], ["convert", "--format", "png", "--output", "--force"],
        ["contact-sheet", "-o", "-f"],
    ])
    func `a name with another format or without a file name is an error`(command: [String]) async throws {
        let run = try alcedo.start(command + [Self.file])
        let outcome = try await run.outcome()

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: run.directory.path)
        #expect(Set(names).isSubset(of: ["input", "output", "problems"]), "\(names)")
    }

    @Test func `a name that begins with a combining mark is valid`() async throws {
        let mark = "\u{301}x"
        let sources = directory.url.appending(path: "sources")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Self.file, toPath: "\(sources.path)/\(mark).png")
        let location = "\(directory.path)/made"

        let words = ["thumbnail", "--size", "9", "--format", "png", "--output"]
        #expect(try await alcedo.run(words + [location, sources.path]).status == 0)
        #expect(try await alcedo.run(["contact-sheet", "--output", "\(location)/\(mark)y.png", Self.file]).status == 0)

        let names = try FileManager.default.contentsOfDirectory(atPath: location)
        #expect(Set(names.map { Array($0.utf8) }) == Set(["\(mark).png", "\(mark)y.png"].map { Array($0.utf8) }))
    }

    @Test func `a directory may be named like an image if it exists or ends with a slash`() async throws {
        let words = ["thumbnail", "--size", "9", Self.file, "--force", "--output"]
        for location in [directory.path + "/a.jpg/", directory.path + "/a.jpg"] {
            #expect(try await alcedo.run(words + [location]).status == 0)
        }
        let dashed = try alcedo.start(["thumbnail", "--size", "9", Self.file, "--output=--force"])
        #expect(try await dashed.outcome().status == 0)
        #expect(FileManager.default.fileExists(atPath: dashed.directory.path + "/--force/tiles.jpg"))
    }

    @Test(arguments: [
        ["inspect"], ["load", "--no-sheet"], ["contact-sheet", "-o", "-"], ["cache", "stat"], ["--help"],
    ])
    func `full standard output is reported in one line`(command: [String]) async throws {
        let full = Program(
            name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path], outputPath: "/dev/full")

        let outcome = try await full.run(command + (["cache", "--help"].contains(command[0]) ? [] : [Self.file]))

        #expect(outcome.status == 1)
        #expect(outcome.problems == "alcedo: cannot write standard output: No space left on device\n")
    }
}
