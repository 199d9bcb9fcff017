import Alcedo
import AlcedoCore
@testable import AlcedoTool
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Thumbnails that the programs of a desktop share.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SharedThumbnailTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program
    private let root: URL
    /// The standard requires the name and the version of the program.
    private let failures = "fail/alcedo-\(AlcedoVersion.text)"

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(
            name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.appending(path: "cache").path])
        root = directory.url.appending(path: "cache/thumbnails")
    }

    /// The first row is the example of the specification.
    @Test(arguments: [
        ("/home/jens/photos/me.png", "file:///home/jens/photos/me.png"), ("a.png", "file:///home/me/a.png"),
        ("/x/./y//../é b.png", "file:///x/%C3%A9%20b.png"), ("../../../a", "file:///a"),
        (
            "/!\"#$%&'()*+,-./:;<=>?@[\\]^_\u{60}{|}~",
            "file:///!%22%23$%25&'()*+,-./:%3B%3C=%3E%3F@%5B%5C%5D%5E_%60%7B%7C%7D~"
        ),
    ])
    func `a file has a canonical URI, as GLib spells it`(path: String, uri: String) {
        let file = ThumbnailSource(path, in: "/home/me", modificationTime: 1, byteCount: 2)

        #expect(file.uri == uri)
        if path == "/home/jens/photos/me.png" { #expect(file.name == "c6ee772d9e49320e97ec29a7eb5b1697.png") }
    }

    /// Copies a sample image to a file of the test, and returns the file.
    private func photo(_ sample: String = "dunes.jpg", as name: String = "a photo.jpg") throws -> URL {
        let file = directory.url.appending(path: name)
        try SampleImages.data(sample).write(to: file)
        return file
    }

    private func setModificationTime(of file: URL, _ seconds: Int) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(seconds))], ofItemAtPath: file.path)
    }

    private func thumbnail(of file: URL, in name: String) -> URL {
        let source = ThumbnailSource(file.path, in: "/", modificationTime: 0, byteCount: 0)
        return root.appending(path: "\(name)/\(source.name)")
    }

    private func info(of file: URL, in name: String) throws -> ImageInfo {
        try CodecRegistry.standard.inspect(Data(contentsOf: thumbnail(of: file, in: name)))
    }

    private func permissions(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    /// The file's number, which changes when it is replaced.
    private func node(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
    }

    private func make(_ files: [URL], _ words: [String] = []) async throws -> Program.Outcome {
        try await alcedo.run(["thumbnail", "--freedesktop"] + words + files.map(\.path))
    }

    @Test func `thumbnails of each size identify the file, and only the user can read them`() async throws {
        let file = try photo()
        try setModificationTime(of: file, 1_234_567_890)

        let sizes = ["128", "256", "512", "1024"].flatMap { ["--size", $0] }
        let outcome = try await make([file], sizes + ["--json"])

        #expect(outcome.status == 0, "\(outcome.problems)")
        for (name, width, height) in [
            ("normal", 128, 85), ("large", 256, 171), ("x-large", 512, 341), ("xx-large", 1024, 683),
        ] {
            let info = try info(of: file, in: name)
            #expect(info.size == PixelSize(width: width, height: height))
            #expect(info.format == .png)
            #expect(info.bitDepth == 8)
            let texts = info.metadata.texts
            #expect(texts["Thumb::URI"] == "file://" + file.path.replacing(" ", with: "%20"))
            #expect(texts["Thumb::MTime"] == "1234567890")
            #expect(texts["Thumb::Size"] == "37026")
            #expect(texts["Thumb::Mimetype"] == "image/jpeg")
            #expect(texts["Thumb::Image::Width"] == "1200")
            #expect(texts["Thumb::Image::Height"] == "800")
            #expect(texts["Software"]?.hasPrefix("alcedo ") == true)
            #expect(try permissions(thumbnail(of: file, in: name)) == 0o600)
            #expect(try permissions(root.appending(path: name)) == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: name).path)
            #expect(names == [thumbnail(of: file, in: name).lastPathComponent])
        }
        #expect(try permissions(root) == 0o700)
        let lines = try JSONLines.objects(outcome.output)
        #expect(lines.map { $0["width"] as? Int } == [128, 256, 512, 1024])
        #expect(lines.first?["output"] as? String == thumbnail(of: file, in: "normal").path)
    }

    @Test func `a current thumbnail is kept, and that of a changed file is made again`() async throws {
        let file = try photo()
        try setModificationTime(of: file, 1_000_000_000)
        let normal = thumbnail(of: file, in: "normal")
        let first = try await make([file])
        #expect(first.output.hasPrefix("thumbnails: 1 written, 0 failed, "), "\(first.problems)")
        let original = try node(normal)

        let second = try await make([file])
        #expect(second.status == 0)
        #expect(second.output.hasPrefix("thumbnails: 0 written, 0 failed, 1 kept, 0 bytes in, "))
        #expect(try node(normal) == original)

        try SampleImages.data("tiles.png").write(to: file)
        try setModificationTime(of: file, 1_000_000_001)
        #expect(try await make([file]).output.hasPrefix("thumbnails: 1 written, 0 failed, "))
        #expect(try info(of: file, in: "normal").metadata.texts["Thumb::MTime"] == "1000000001")
        #expect(try info(of: file, in: "normal").metadata.texts["Thumb::Mimetype"] == "image/png")

        // A thumbnail that another program has written in part is none.
        let whole = try Data(contentsOf: normal)
        try whole.dropLast(20).write(to: normal)
        #expect(try await make([file], ["--size", "128"]).output.hasPrefix("thumbnails: 1 written, "))
        #expect(try Data(contentsOf: normal) == whole)

        let before = try node(normal)
        #expect(try await make([file], ["--force"]).output.hasPrefix("thumbnails: 1 written, "))
        #expect(try node(normal) != before)
    }

    @Test func `an image is not enlarged, and its first frame is shown`() async throws {
        let animation = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../GIF/Fixtures/animated.gif").standardized
        let deep = try photo("gradient-16-bit.png", as: "deep.png")

        let outcome = try await make([animation, deep], ["--size", "1024"])

        #expect(outcome.status == 0, "\(outcome.problems)")
        let small = try info(of: animation, in: "xx-large")
        #expect(small.size == (try CodecRegistry.standard.inspect(Data(contentsOf: animation)).size))
        #expect(small.frameCount == 1)
        // Frames of a GIF have few colors.
        #expect(small.colorModel != .palette)
        #expect(try info(of: deep, in: "xx-large").bitDepth == 8)
    }

    @Test func `a file that cannot be read is recorded, and not tried again until it changes`() async throws {
        let file = try photo()
        try Data(SampleImages.data("dunes.jpg").prefix(300)).write(to: file)
        try setModificationTime(of: file, 1_000_000_000)
        let record = thumbnail(of: file, in: failures)

        let first = try await make([file])
        #expect(first.status == 1)
        #expect(try info(of: file, in: failures).metadata.texts["Thumb::MTime"] == "1000000000")
        #expect(try info(of: file, in: failures).size == PixelSize(width: 1, height: 1))
        #expect(try permissions(record) == 0o600)
        #expect(try permissions(record.deletingLastPathComponent()) == 0o700)

        let second = try await make([file])
        #expect(second.status == 1)
        #expect(second.problems.contains("an earlier run could not read this file; --force tries it again"))
        let forced = try await make([file], ["--force"])
        #expect(forced.status == 1)
        #expect(!forced.problems.contains("an earlier run"))

        try SampleImages.data("dunes.jpg").write(to: file)
        try setModificationTime(of: file, 1_000_000_001)
        #expect(try await make([file]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: record.path))
    }

    @Test func `a limit of the command line is not recorded as a failure of the file`() async throws {
        let file = try photo()

        let outcome = try await make([file], ["--max-pixels", "10"])

        #expect(outcome.status == 1)
        #expect(!FileManager.default.fileExists(atPath: thumbnail(of: file, in: failures).path))
        #expect(try await make([file]).status == 0)
    }

    @Test func `thumbnails, also behind links, and images that are no files have no thumbnails`() async throws {
        let file = try photo()
        #expect(try await make([file]).status == 0)
        let own = thumbnail(of: file, in: "normal")
        let link = directory.url.appending(path: "link.png")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: own)

        let outcome = try await make([own, link], ["data:,"])

        #expect(outcome.status == 1)
        let lines = outcome.problems.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.count(where: { $0.hasSuffix(": the file is in the directory of thumbnails") }) == 2)
        #expect(lines.contains { $0.hasSuffix(": --freedesktop makes thumbnails of files only") })
        #expect(try FileManager.default.contentsOfDirectory(atPath: own.deletingLastPathComponent().path).count == 1)
    }

    @Test(arguments: [
        ["--freedesktop", "--size", "100", "a.png"], ["--freedesktop"], ["--freedesktop", "-o", "out", "a.png"],
        ["--freedesktop", "--format", "png", "a.png"], ["--freedesktop", "--fit", "cover", "a.png"],
        ["--freedesktop", "--smart", "a.png"], ["--freedesktop", "--processor", "gray", "a.png"],
        ["-s", "128", "a.png"], ["-s", "128", "a.png", "b.png", "c.png"], ["-s", "128", "-", "b.png"],
        ["-s", "0", "a.png", "b.png"], ["-s", "128", "--size", "256", "a.png", "b.png"],
        ["-s", "128", "--quality", "9", "a.png", "b.png"], ["-s", "128", "-o", "out", "a.png", "b.png"],
    ])
    func `an invalid command line exits with status 2`(words: [String]) async throws {
        let outcome = try await alcedo.run(["thumbnail"] + words)

        #expect(outcome.status == 2, "\(outcome.problems)")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
        #expect(!FileManager.default.fileExists(atPath: root.path))
    }

    @Test func `a desktop calls the command of the thumbnailer file`() async throws {
        let entry = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Modules/CommandLine/Packaging/alcedo.thumbnailer").standardized
        let lines = try String(decoding: Data(contentsOf: entry), as: UTF8.self).split(separator: "\n")
        #expect(lines.first { !$0.hasPrefix("#") } == "[Thumbnailer Entry]")
        let command = try #require(lines.first { $0.hasPrefix("Exec=alcedo ") })
        let file = try photo("turned.jpg", as: "turned")
        // A desktop may have created the file.
        let output = directory.url.appending(path: "desktop-thumbnail.Xa1")
        try Data().write(to: output)
        let values = ["%s": "64", "%i": file.path, "%o": output.path]
        let words = command.split(separator: " ").dropFirst().map { values[String($0)] ?? String($0) }

        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 0, "\(outcome.problems)")
        let original = try CodecRegistry.standard.inspect(Data(contentsOf: file))
        let made = try CodecRegistry.standard.inspect(Data(contentsOf: output))
        #expect(made.format == .png)
        #expect(max(made.size.width, made.size.height) == 64)
        #expect((made.size.width > made.size.height) == (original.uprightSize.width > original.uprightSize.height))
        #expect(made.metadata.texts["Thumb::Image::Width"] == "\(original.uprightSize.width)")
        #expect(made.metadata.texts["Thumb::URI"] == nil)
        #expect(!FileManager.default.fileExists(atPath: root.path))

        let failed = try await alcedo.run(["thumbnail", "-s", "64", "\(file.path).none", output.path])
        #expect(failed.status == 1)
    }
}
