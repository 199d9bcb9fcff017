import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// The arguments and lists that name a command's images.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ListTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    /// Creates copies of a sample under these names, with their directories.
    private func fill(_ names: [String]) throws -> [String] {
        let tiles = try SampleImages.data("tiles.png")
        return try names.map { name in
            let file = directory.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try tiles.write(to: file)
            return file.path
        }
    }

    /// Returns the images that `inspect` has read.
    private func inspected(_ words: [String], input: String = "") async throws -> [String] {
        let outcome = try await alcedo.run(["inspect", "--json"] + words, input: Data(input.utf8))
        #expect(outcome.status == 0, "\(outcome.problems)\(outcome.output)")
        return try outcome.output.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["input"] as? String)
        }
    }

    @Test func `lists follow the arguments, from standard input and from files, in order`() async throws {
        let files = try fill(["a.png", "b.png", "c d.png", "-e.png"])
        let list = directory.url.appending(path: "list")
        try Data("\(files[1])\r\n\n\(files[2])".utf8).write(to: list)

        let found = try await inspected(
            ["--list", list.path, "--list", "-", files[0]], input: "\(files[3])\n\(files[0])\n")

        #expect(found == [files[0], files[1], files[2], files[3], files[0]])
    }

    @Test func `names with line breaks are separated by null bytes`() async throws {
        let files = try fill(["a\nb.png", " c.png"])

        let found = try await inspected(["-0", "--list", "-"], input: files.joined(separator: "\0") + "\0")

        #expect(found == files)
    }

    @Test func `a directory lists its images once each, also behind a link`() async throws {
        let files = try fill(["in/b.png", "in/A.PNG", "in/deep/c.webp", "in/.hidden.png"])
        let inside = directory.url.appending(path: "in")
        try FileManager.default.createSymbolicLink(
            at: inside.appending(path: "deep/round"), withDestinationURL: inside)

        let found = try await inspected([inside.path])
        let listed = try await inspected(["--list", "-"], input: inside.path)

        #expect(found == [files[1], files[0], files[2]])
        #expect(listed == found)
    }

    @Test func `a directory lists files by their contents, and damaged images by their names`() async throws {
        let files = try fill(["in/a", "in/b.bin", "in/c.jfif", "in/d.pjpeg", "in/e.dib"])
        let inside = directory.url.appending(path: "in")
        let others = [
            "f.jpe": "damaged", "notes.txt": "BMW, text", "page.html": "<!-- a page --><html>", "data": "",
            "p.xml": "<?xml?>",
        ]
        for (name, text) in others { try Data(text.utf8).write(to: inside.appending(path: name)) }
        #expect(mkfifo(inside.appending(path: "pipe").path, 0o600) == 0)

        let outcome = try await alcedo.run(["inspect", "--json", inside.path])
        let objects = try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let text = try await alcedo.run(["inspect", inside.path])

        #expect(objects.first?["input"] as? String == inside.path)
        #expect(objects.first?["skipped"] as? Int == 5)
        let damaged = inside.appending(path: "f.jpe").path
        #expect(objects.dropFirst().compactMap { $0["input"] as? String } == files + [damaged])
        #expect(objects.filter { $0["error"] is String }.compactMap { $0["input"] as? String } == [damaged])
        #expect(text.output.contains("skipped: 5 files in \(inside.path), not images\n"))
    }

    @Test func `a pattern is expanded unless a file has its name`() async throws {
        let files = try fill(["in/b1.png", "in/b2.png", "in/a.png", "star/*.png", "star/c.png"])
        let root = directory.path

        #expect(try await inspected(["\(root)/in/b?.png"]) == [files[0], files[1]])
        #expect(try await inspected(["\(root)/star/*.png"]) == [files[3]])
        let none = try await alcedo.run(["inspect", "\(root)/in/x*.png", files[2]])
        #expect(none.status == 1)
        #expect(none.problems.contains("x*.png: no file matches"))
        #expect(none.output.contains("a.png\n  png, 512 x 512"))
    }

    @Test func `an unclosed bracket is an ordinary character`() async throws {
        let files = try fill(["in/a[1.png", "in/b[1.png"])
        let root = directory.path

        #expect(try await inspected([files[0]]) == [files[0]])
        #expect(try await inspected(["\(root)/in/*[1.png"]) == files)
        let none = try await alcedo.run(["inspect", "\(root)/in/c[1.png"])
        #expect(none.status == 1)
        #expect(none.problems.contains("No such file or directory"))
    }

    @Test func `a backslash makes the next character ordinary`() async throws {
        let files = try fill(["in/*.png", "in/a.png"])
        let root = directory.path

        #expect(try await inspected(["\(root)/in/\\*.png"]) == [files[0]])
        let none = try await alcedo.run(["inspect", "\(root)/in/*\\"])
        #expect(none.status == 1)
        #expect(none.problems.contains(": no file matches"))
        let lone = try await alcedo.run(["inspect", "\\"])
        #expect(lone.status == 1)
        #expect(lone.problems.contains("No such file or directory"))
    }

    @Test func `a pattern names the reason when its directory cannot be listed`() async throws {
        let loop = directory.url.appending(path: "loop")
        try FileManager.default.createSymbolicLink(at: loop, withDestinationURL: loop)

        let outcome = try await alcedo.run(["inspect", "\(loop.path)/*.png"])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("cannot list the directory: Too many levels of symbolic links"))
    }

    @Test func `an image is read from standard input`() async throws {
        let outcome = try await alcedo.run(["inspect", "-"], input: try SampleImages.data("tiles.png"))

        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("-\n  png, 512 x 512"))
    }

    @Test func `names that are not UTF-8 are reported, and the others are processed`() async throws {
        let file = try fill(["in/a.png"])[0]
        var name = Array("\(directory.path)/in/".utf8CString.dropLast()) + [CChar(bitPattern: 0xFF)]
        name += Array(".png".utf8CString)
        #expect(fclose(fopen(name, "w")) == 0)

        let below = try await alcedo.run(["inspect", "\(directory.path)/in"])
        let matched = try await alcedo.run(["inspect", "\(directory.path)/in/*.png"])
        let listed = try await alcedo.run(["inspect", "--list", "-"], input: Data([0xFF, 10]) + Data(file.utf8))

        for outcome in [below, matched, listed] {
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("png, 512 x 512"))
            #expect(outcome.problems.contains("the name is not UTF-8"))
            #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        }
    }

    @Test(arguments: [
        ["inspect"], ["inspect", "-", "-"], ["inspect", "-", "--list", "-"], ["inspect", "-0", "a.png"],
        ["inspect", "--list", "-"], ["inspect", "--list="], ["inspect", "a.png", ""], ["load", "--list", "-"],
        ["decode", "--list", "-", "--output", "x"], ["show", "--list", "-"], ["contact-sheet", "--list", "-"],
    ])
    func `no image at all and standard input twice are usage errors`(words: [String]) async throws {
        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }

    @Test func `an unreadable list is reported in one line`() async throws {
        let outcome = try await alcedo.run(["inspect", "--list", "\(directory.path)/missing"])

        #expect(outcome.status == 1)
        #expect(outcome.problems == "alcedo: cannot read \(directory.path)/missing: No such file or directory\n")
    }

    @Test(arguments: ["load", "thumbnail", "convert", "decode", "contact-sheet", "show"])
    func `every command accepts lists`(command: String) async throws {
        let files = try fill(["a.png", "b.png"])
        let options = [
            "load": ["--no-sheet"], "thumbnail": ["--size", "9", "--output", "out"],
            "convert": ["--format", "jpeg", "--output", "out"], "decode": ["--output", "out", "--format", "ppm"],
        ]

        let outcome = try await alcedo.run(
            [command, "--list", "-"] + (options[command] ?? []), input: Data(files.joined(separator: "\n").utf8))

        #expect(outcome.status == 0, "\(outcome.problems)")
        #expect(outcome.problems == "")
    }

    @Test func `a long list of equal names takes linear time`() async throws {
        let names = String(repeating: "http://[::1/a.png\n", count: 20_000)

        let outcome = try await alcedo.run(
            ["thumbnail", "--size", "9", "--output", "out", "--json", "--list", "-"], input: Data(names.utf8))

        #expect(outcome.status == 1)
        #expect(outcome.output.split(separator: "\n").count == 20_000)
    }
}
