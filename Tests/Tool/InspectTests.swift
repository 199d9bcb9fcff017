import Alcedo
import AlcedoHTTP
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct InspectTests {
    let directory: TemporaryDirectory
    let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test func `every argument yields one object per line, in order, also after failures`() async throws {
        let good = SampleImages.path("tiles.png")
        let text = directory.url.appending(path: "a page with\na new line.gif")
        try Data("<html>".utf8).write(to: text)
        let cut = directory.url.appending(path: "cut.jpg")
        try SampleImages.data("dunes.jpg").prefix(5_000).write(to: cut)
        let arguments = [good, "/nonexistent.png", text.path, cut.path, "/dev/zero", good]

        let outcome = try await alcedo.run(["inspect", "--json", "--pixels"] + arguments)

        #expect(outcome.status == 1 && outcome.problems == "")
        let objects = try JSONLines.objects(outcome.output)
        #expect(objects.map { $0["input"] as? String } == arguments)
        let codes = objects.map { ($0["error"] as? String)?.prefix { $0 != ":" }.description }
        #expect(codes == [nil, "unreadable", "unknownFormat", "truncated", "unreadable", nil])
        #expect(objects[3]["width"] as? Int == 1200 && objects[3]["frames"] == nil)
        let tiles = objects[0]
        #expect(tiles["format"] as? String == "png" && tiles["width"] as? Int == 512)
        #expect(tiles["frameCount"] as? Int == 1 && tiles["loopCount"] is NSNull && tiles["error"] is NSNull)
        #expect((tiles["delaysMs"] as? [Double]) == [] && tiles["orientation"] as? Int == 1)
        let frames = try #require(tiles["frames"] as? [[String: String]])
        #expect(frames.count == 1 && frames[0]["sha256"]?.count == 64)
        #expect(frames[0]["sha256Alpha0Zeroed"]?.count == 64)
    }

    @Test func `no name can control the terminal`() async throws {
        let name = "a\u{9B}2Jb\u{1B}[2Jc\u{7F}\u{80}é\u{A0}.png"
        try Data("none".utf8).write(to: directory.url.appending(path: name))

        let outcome = try await alcedo.run(["inspect", "--json", directory.path])

        let controls = outcome.output.unicodeScalars.filter { $0 < " " || (0x7F...0x9F).contains($0.value) }
        #expect(controls.allSatisfy { $0 == "\n" })
        let input = try #require(try JSONLines.objects(outcome.output).first?["input"] as? String)
        #expect(input == "\(directory.path)/\(name)")
    }

    @Test func `an animation has a digest and a delay for every frame`() async throws {
        let gif = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../GIF/Fixtures/animated.gif"
        ).standardized

        let outcome = try await alcedo.run(["inspect", "--json", "--pixels", gif.path])
        let plain = try await alcedo.run(["inspect", gif.path])

        let object = try #require(try JSONLines.objects(outcome.output).first)
        #expect(outcome.status == 0)
        #expect((object["frames"] as? [Any])?.count == 3 && object["frameCount"] as? Int == 3)
        #expect(object["delaysMs"] as? [Double] == [50, 50, 50] && object["loopCount"] as? Int == 3)
        #expect(plain.output.contains("gif, 13 x 19") && plain.output.contains("3 frames, 0.15 s, loop count 3"))
    }

    @Test func `requests follow the network options`() async throws {
        let png = try SampleImages.data("tiles.png")
        let origin = try LoopbackOrigin { request in
            request.fields["X-Token"] == "1" ? OriginReply(body: png) : .status(403)
        }
        defer { origin.stop() }
        let url = origin.url(for: "/a.png").absoluteString

        let outcome = try await alcedo.run([
            "inspect", "--json", url, "--header", "X-Token: 1", "--timeout", "60", "--retry", "1",
        ])

        #expect(outcome.status == 0 && outcome.problems == "")
        #expect(try JSONLines.objects(outcome.output).first?["format"] as? String == "png")
        #expect(try await alcedo.run(["inspect", "-q", url]).status == 1)
    }

    @Test func `an unreadable image is reported on standard error only`() async throws {
        let missing = directory.url.appending(path: "missing.png").path

        let outcome = try await alcedo.run(["inspect", missing])

        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.problems.contains(missing))
    }

    @Test func `an image over the pixel limit is refused, and the limit can be raised`() async throws {
        // 512 x 512
        let file = SampleImages.path("tiles.png")
        for command in [["inspect", "--pixels"], ["load", "--no-sheet"], ["show"], ["decode", "-o", directory.path]] {
            let outcome = try await alcedo.run(command + [file, "--max-pixels", "262143"])
            #expect(outcome.status == 1, "\(command)")
            #expect(outcome.problems.contains("limit of 262143 pixels"), "\(command): \(outcome.problems)")
            #expect(try await alcedo.run(command + [file, "--max-pixels", "262144"]).status == 0, "\(command)")
        }
    }
}
