import TestSupport
import Alcedo
import AlcedoTesting
import Foundation
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct LoadCommandTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test func `images come from the network, then from memory, and from disk in the next process`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let urls = ["/good.jpg", "/good.png"].map { origin.url(for: $0).absoluteString }

        let first = try await alcedo.run(["load", "--repeat", "2", "--output", directory.url.path] + urls)
        let second = try await alcedo.run(["load"] + urls)

        #expect(first.status == 0)
        #expect(first.problems == "")
        #expect(second.status == 0)
        #expect(second.problems == "")
        for url in urls {
            #expect(first.rows(url).map { $0[0] } == ["network", "memory"])
            #expect(second.rows(url).map { $0[0] } == ["disk"])
        }
        #expect(first.rows(urls[0])[0].prefix(4) == ["network", "jpeg", "1200x800", "37026"])
        #expect(first.rows(urls[1])[0].prefix(4) == ["network", "png", "512x512", "2913"])
        #expect(origin.requests.count == 2)
        // The totals are printed below each table.
        let summaries = first.output.split(separator: "\n").filter { $0.hasPrefix("images: ") }
        #expect(summaries.count == 2)
        #expect(second.output.contains("images: 2 loaded, 0 failed, 39939 bytes, "))
        #expect(summaries.first?.hasPrefix("images: 2 loaded, 0 failed, 39939 bytes, ") == true)
        #expect(summaries.last?.hasPrefix("images: 2 loaded, 0 failed, 0 bytes, ") == true)
        #expect(summaries.allSatisfy { $0.hasSuffix(" s") })
    }

    @Test func `the contact sheet and the images are written as PNG`() async throws {
        let output = directory.url.appending(path: "new/folder")
        let file = SampleImages.path("turned.jpg")

        let outcome = try await alcedo.run(["load", file, "--output", output.path, "--size=100"])

        #expect(outcome.status == 0)
        #expect(outcome.rows(file)[0].prefix(3) == ["local", "jpeg", "100x67"])
        let sheet = try PNGDecoder().decode(
            Data(contentsOf: output.appending(path: "contact-sheet.png")), options: DecodingOptions())
        #expect(sheet.size == PixelSize(width: 184, height: 184))
        let written = try Data(contentsOf: output.appending(path: "1-turned.jpg.png"))
        #expect(try PNGDecoder().inspect(written, limits: DecodingLimits()).size == PixelSize(width: 100, height: 67))
    }

    @Test func `the first frame of an animation is written`() async throws {
        let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../GIF/Fixtures/animated.gif").standardized

        let outcome = try await alcedo.run([
            "load", animation.path, "--no-sheet", "--no-cache", "--output", directory.url.path,
        ])

        #expect(outcome.status == 0, "\(outcome.problems)")
        let written = try CodecRegistry.standard.inspect(
            Data(contentsOf: directory.url.appending(path: "1-animated.gif.png")))
        let original = try CodecRegistry.standard.inspect(Data(contentsOf: animation))
        #expect(original.frameCount > 1)
        #expect(written.size == original.size)
        #expect(written.frameCount == 1)
    }

    @Test func `neither the sheet nor an image overwrites an image`() async throws {
        let tiles = try SampleImages.data("tiles.png")
        let sheet = directory.url.appending(path: "contact-sheet.png")
        let first = directory.url.appending(path: "1-contact-sheet.png.png")
        for file in [sheet, first] { try tiles.write(to: file) }

        let outcome = try await alcedo.run([
            "load", sheet.path, first.path, "--no-cache", "--force", "--output", directory.path,
        ])

        #expect(outcome.status == 1)
        #expect(outcome.problems.split(separator: "\n").count == 2)
        #expect(outcome.output.contains("images: 2 loaded, 0 failed, 1 not written, "))
        for file in [sheet, first] {
            #expect(outcome.problems.contains("cannot write \(file.path): it is one of the input images"))
            #expect(try Data(contentsOf: file) == tiles)
        }
        let second = directory.url.appending(path: "2-1-contact-sheet.png.png.png").path
        #expect(FileManager.default.fileExists(atPath: second))
    }

    @Test func `each failure is one line, and the other images load`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let words = [
            "/page.jpg": "text, possibly an HTML page",
            "/empty.jpg": " is empty",
            "/truncated.jpg": "JPEG: ",
            "/bomb.png": "50000 x 50000 pixels exceed the limit",
            "/missing.jpg": "the server responded with status 404",
            "/cut.jpg": "",
            "/lie.jpg": "",
        ]
        let bad = words.keys.sorted().map { origin.url(for: $0).absoluteString }
        let good = ["/good.jpg", "/good.png"].map { origin.url(for: $0).absoluteString }

        let outcome = try await alcedo.run(["load"] + bad + good)

        #expect(outcome.status == 1)
        let lines = outcome.problems.split(separator: "\n")
        #expect(lines.count == bad.count)
        #expect(outcome.output.contains("images: 2 loaded, \(bad.count) failed, 39939 bytes, "))
        for (path, word) in words {
            let url = origin.url(for: path).absoluteString
            let line = lines.first { $0.hasPrefix("alcedo: \(url): ") }
            #expect(line.map { word.isEmpty || $0.contains(word) } == true, "\(path): \(lines)")
            #expect(outcome.rows(url).map { $0[0] } == ["failed"])
        }
        for url in good { #expect(outcome.rows(url).map { $0[0] } == ["network"]) }

        // Failures are not cached: a second process requests each failed image again, and has the others.
        let requests = origin.requests.count
        let second = try await alcedo.run(["load"] + bad + good)
        #expect(origin.requests.count - requests >= bad.count)
        for url in good { #expect(second.rows(url).map { $0[0] } == ["disk"]) }
    }

    @Test func `an unwritable cache directory is reported in one line, and the images load`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let file = directory.url.appending(path: "a-file")
        try Data("not a directory".utf8).write(to: file)
        let urls = ["/good.jpg", "/good.png"].map { origin.url(for: $0).absoluteString }

        let outcome = try await alcedo.run(["load", "--cache", file.appending(path: "cache").path] + urls)

        #expect(outcome.status == 1)
        #expect(outcome.problems.split(separator: "\n").count == 1)
        #expect(outcome.problems.contains("cache directory"))
        for url in urls { #expect(outcome.rows(url).map { $0[0] } == ["network"]) }
    }

    @Test func `an output directory that cannot be created is reported in one line`() async throws {
        let file = directory.url.appending(path: "a-file")
        try Data("not a directory".utf8).write(to: file)
        let image = SampleImages.path("tiles.png")

        let outcome = try await alcedo.run(["load", image, "--output", file.appending(path: "out").path])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("cannot write \(file.path)"))
    }

    @Test(arguments: [
        ["load", "--nonsense", "a.png"], ["load"], ["load", "--size", "none", "a.png"], ["load", "a.png", "--size"],
        ["load", ""], ["load", "--cache", "", "a.png"], ["load", "--output=", "a.png"], ["nonsense"], [], ["show"],
        ["show", "--color", "pink", "a.png"], ["load", "--no-cache=1", "a.png"], ["load", "--repeat", "0", "a.png"],
    ])
    func `an invalid command line is explained and exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo: "))
        let command = ["load", "show"].contains(words.first) ? "alcedo \(words[0])" : "alcedo"
        #expect(outcome.problems.hasSuffix("; see '\(command) --help'\n"))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: [["--help"], ["load", "--help"], ["show", "--help"]])
    func `help is written to standard output`(words: [String]) async throws {
        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output.contains("alcedo "))
    }

    @Test(arguments: ["http://[::1", "ftp://127.0.0.1/a.png", "file://elsewhere/a.png", "data:image/png;base64,!"])
    func `an image that cannot be loaded does not stop the others`(argument: String) async throws {
        let file = SampleImages.path("tiles.png")

        let outcome = try await alcedo.run(["load", argument, file, "--no-cache"])

        #expect(outcome.status == 1)
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        #expect(outcome.rows(file).map { $0[0] } == ["local"])
    }

    @Test func `names cannot control the terminal, and passwords are not printed`() async throws {
        let name = directory.url.appending(path: "a\u{1B}[31m\nb.png").path

        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let missing = "http://user:secret@127.0.0.1:\(origin.port)/missing.png"

        let invalid = "http://user:secret@[::1/a.png"

        let outcome = try await alcedo.run(["load", "-v", name, missing, "http://user:secret@127.0.0.1:1/a.png"])
        let refused = try await alcedo.run(["load", invalid])

        #expect(refused.status == 1)
        #expect(refused.problems.contains("http://...@[::1/a.png"))
        #expect(!refused.problems.contains("secret"))
        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("the server responded with status 404 for http://127.0.0.1"))
        #expect(!(outcome.output + outcome.problems).contains("\u{1B}"))
        #expect(!(outcome.output + outcome.problems).contains("secret"))
        #expect(outcome.problems.filter { $0 == "\n" }.count == 3 + 3)
    }

    @Test func `files that do not belong to the cache are kept`() async throws {
        let origin = try SampleImages.faultyOrigin()
        defer { origin.stop() }
        let ours = directory.url.appending(path: "v1")
        try FileManager.default.createDirectory(at: ours, withIntermediateDirectories: true)
        let thesis = ours.appending(path: "thesis.txt")
        // Larger than the limit of the whole cache, without using that space.
        #expect(FileManager.default.createFile(atPath: thesis.path, contents: nil))
        #expect(truncate(thesis.path, 300 << 20) == 0)

        let outcome = try await alcedo.run(
            ["load", "--cache", directory.path, origin.url(for: "/good.png").absoluteString])

        #expect(outcome.status == 0)
        #expect(FileManager.default.fileExists(atPath: thesis.path))
    }

    @Test func `a process without network requests always ends normally`() async throws {
        for _ in 0..<40 {
            let outcome = try await alcedo.run(["load", "/missing.png", "--no-cache"])
            #expect(outcome.status == 1)
        }
    }

    @Test func `an image with a profile similar to sRGB is written`() async throws {
        let file = SampleImages.fixture("srgb-profile.jpg").path

        let outcome = try await alcedo.run(["load", file, "--output", directory.path])

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(FileManager.default.fileExists(atPath: directory.url.appending(path: "1-srgb-profile.jpg.png").path))
    }

    @Test func `a missing file and a device are reported as errors`() async throws {
        let missing = directory.url.appending(path: "missing.png").path

        let outcome = try await alcedo.run(["load", missing, "/dev/zero"])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("cannot read \(missing): No such file or directory"))
        #expect(outcome.problems.contains("cannot read /dev/zero: not a regular file"))
    }
}
