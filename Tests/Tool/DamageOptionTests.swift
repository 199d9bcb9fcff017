import Alcedo
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Damaged images on the command line.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DamageOptionTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    /// Writes a file of each kind of damage and returns its path: without its end mark, with more pixel data than
    /// pixels, and without its lower half.
    private func file(_ kind: DamageTolerance) throws -> String {
        let data = try SampleImages.data("dunes.jpg")
        let damaged =
            switch kind {
            case .harmless: data.dropLast(2)
            case .wrongPixels: data.dropLast(2) + Data(repeating: 1, count: 20) + Data([0xFF, 0xD9])
            case .missingPixels: data.prefix(data.count / 2)
            }
        let url = directory.url.appending(path: "\(kind).jpg")
        try damaged.write(to: url)
        return url.path
    }

    private static let commands = [
        ["thumbnail", "--size", "40", "-o"], ["convert", "--format", "png", "-o"], ["decode", "-o"], ["load", "-o"],
        ["contact-sheet", "-o"], ["inspect", "--pixels"], ["inspect", "--placeholders"],
    ]

    private func words(_ command: [String]) -> [String] {
        guard command.last == "-o" else { return command }
        return command + [directory.url.appending(path: command[0] == "contact-sheet" ? "sheet.png" : "out").path]
    }

    @Test(arguments: commands)
    func `each command accepts damage up to the option, and reports it`(command: [String]) async throws {
        for (option, tolerance) in [
            ("--strict", DamageTolerance.harmless), ("", .wrongPixels), ("--partial", .missingPixels),
        ] {
            for kind in DamageTolerance.allCases {
                let path = try file(kind)
                let options = option.isEmpty ? [] : [option]
                let force = command[0] == "inspect" ? [] : ["--force"]

                let outcome = try await alcedo.run(words(command) + ["--json", path] + options + force)

                let name = Comment(rawValue: "\(command[0]) \(option) \(kind): \(outcome.output)\(outcome.problems)")
                #expect(outcome.status == (kind <= tolerance ? 0 : 1), name)
                let object = try #require(
                    try JSONLines.objects(outcome.output).first { $0["input"] as? String == path }, name)
                #expect(object["damage"] as? String == (kind <= tolerance ? "\(kind)" : nil), name)
                #expect(
                    (object["damageMessage"] as? String)?.hasPrefix("JPEG: ") == (kind <= tolerance ? true : nil), name)
                #expect((object["error"] as? String != nil) == (kind > tolerance), name)
            }
        }
    }

    @Test(arguments: commands.dropLast(2), [DamageTolerance.wrongPixels, .missingPixels])
    func `a damaged image is fetched again in the next run`(command: [String], kind: DamageTolerance) async throws {
        let body = Watched(try Data(contentsOf: URL(filePath: file(kind))))
        let origin = try LoopbackOrigin { _ in
            OriginReply.ok(body.value, type: "image/jpeg").setting("Cache-Control", "max-age=3600")
        }
        defer { origin.stop() }
        let arguments = words(command) + ["--force", origin.url(for: "/dunes.jpg").absoluteString]

        for option in ["--strict", "--partial"] {
            #expect(try await alcedo.run(arguments + [option]).status == (option == "--strict" ? 1 : 0))
        }
        body.update { [data = try SampleImages.data("dunes.jpg")] in $0 = data }
        for _ in 0..<2 {
            let outcome = try await alcedo.run(arguments + ["--strict"])
            #expect(outcome.status == 0, Comment(rawValue: outcome.problems))
        }
        #expect(origin.requests.count == 3)
    }

    @Test(arguments: [[], ["--strict"], ["--partial"]])
    func `an animation is written up to a damaged frame, which is reported`(options: [String]) async throws {
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 7]
        let (first, second): ([UInt8], [UInt8]) = ([4, 0x80, 0, 1, 0x81, 0], [4, 0x80, 1, 0, 0x81, 0])
        var gif = Data("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        // The third frame has no pixels.
        for pixels in [first, second, [0], first] { gif += image + pixels }
        let url = directory.url.appending(path: "moving.gif")
        try (gif + [0x3B]).write(to: url)

        for command in [["convert", "--format", "webp", "-o"], ["decode", "-o"], ["inspect", "--pixels"]] {
            let output = directory.url.appending(path: command[0] + options.joined())
            let destination = command.last == "-o" ? [output.path + "/"] : []
            let outcome = try await alcedo.run(command + destination + ["--json", url.path] + options)

            let name = Comment(rawValue: "\(command[0]): \(outcome.output)\(outcome.problems)")
            let object = try #require(try JSONLines.objects(outcome.output).first, name)
            #expect(outcome.status == 0, name)
            #expect(object["damage"] as? String == "harmless", name)
            #expect((object["damageMessage"] as? String)?.contains("ends before frame 2") == true, name)
            switch command[0] {
            case "convert":
                let data = try Data(contentsOf: output.appending(path: "moving.webp"))
                #expect(try CodecRegistry.standard.inspect(data).frameCount == 2)
            case "decode":
                #expect(try FileManager.default.contentsOfDirectory(atPath: output.path).count == 2)
            default:
                #expect((object["frames"] as? [Any])?.count == 2)
                #expect(object["frameCount"] as? Int == 4)
            }
        }
    }

    @Test func `people read what was wrong, and in quiet mode only if pixels are wrong`() async throws {
        let harmless = try file(.harmless)
        let wrong = try file(.wrongPixels)
        let command = ["thumbnail", "--size", "40", "--force", "-o", directory.url.appending(path: "out").path]

        let usual = try await alcedo.run(command + [harmless, wrong])
        let quiet = try await alcedo.run(command + [harmless, wrong, "--quiet"])
        let report = try await alcedo.run(["inspect", "--pixels", wrong])

        #expect(usual.status == 0)
        #expect(quiet.status == 0)
        #expect(usual.problems.contains("\(harmless): damaged, but no pixel is wrong: JPEG: the end mark is missing"))
        #expect(usual.problems.contains("\(wrong): some pixels may be wrong: JPEG: "))
        #expect(!quiet.problems.contains(harmless))
        #expect(quiet.problems.contains(wrong))
        #expect(report.output.contains("  some pixels may be wrong: JPEG: "))
    }

    @Test func `a partial image is written with the rows that were decoded`() async throws {
        let path = try file(.missingPixels)
        let output = directory.url.appending(path: "part.png")

        #expect(try await alcedo.run(["convert", path, "--partial", "-o", output.path]).status == 0)

        let image = try CodecRegistry.standard.decode(Data(contentsOf: output))
        let whole = try CodecRegistry.standard.decode(SampleImages.data("dunes.jpg"))
        #expect(image.size == whole.size)
        #expect(image.pixels.rgba(5, 5) == whole.pixels.rgba(5, 5))
        #expect(image.pixels.rgba(5, whole.size.height - 1) == [0, 0, 0, 0])
    }

    @Test func `the options exclude each other`() async throws {
        for command in ["thumbnail", "convert", "decode", "load", "contact-sheet", "inspect", "show"] {
            let outcome = try await alcedo.run([command, "--partial", "--strict", try file(.harmless)])
            #expect(outcome.status == 2)
            #expect(outcome.problems.contains("--partial cannot be combined with --strict"))
        }
    }
}
