import Alcedo
import Foundation
import TestSupport
import Testing

/// Tests of what the programs print for inputs and surroundings of strangers.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct HostileInputTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test(arguments: [["--help"], ["-h"], [], ["--unknown"]])
    func `the conformance program prints its usage`(words: [String]) async throws {
        let outcome = try await Program(name: "conformance").run(words)

        #expect(outcome.status == (words.first?.contains("h") == true ? 0 : 2))
        #expect(outcome.output.hasPrefix("usage: conformance DIRECTORY"))
    }

    @Test func `a missing corpus is an error of the conformance program`() async throws {
        let outcome = try await Program(name: "conformance").run([directory.path + "/missing"])

        #expect(outcome.status == 2, "\(outcome.output)")
        #expect(outcome.output.hasPrefix("conformance: "))
    }

    @Test(arguments: [4, 5, 8, 12, 15, 16, 17, 20, 24, 32, 48])
    func `few descriptors are reported, and end no process by a signal`(limit: Int) async throws {
        let path = try ChildProcess.path(of: "alcedo")
        let seeds = ["JXL", "SVG", "PNG", "GIF"].map { Self.tests.appending(path: "Fuzz/\($0)/Seeds").path }
        let words =
            ["thumbnail", SampleImages.path("tiles.png")] + seeds
            + ["--size", "20", "--no-cache", "--force", "--output", directory.path + "/out"]

        let outcome = try await Program(name: "/bin/sh", environment: alcedo.environment).run(
            ["-c", "ulimit -n \(limit) && exec \"$0\" \"$@\"", path] + words)

        // A panic of librsvg writes two lines of its own.
        let problems = outcome.problems.split(separator: "\n").filter { $0.hasPrefix("alcedo: ") }
        #expect([0, 1].contains(outcome.status), "\(outcome.status): \(outcome.problems)")
        #expect(outcome.status == 0 || !problems.isEmpty)
        if limit < 16 {
            let message = "at most \(limit) files may be open, and at least 16 are needed: raise the limit (ulimit -n)"
            #expect(outcome.status == 1, "\(outcome.problems)")
            #expect(outcome.problems == "alcedo: \(message)\n")
        }
    }

    @Test(arguments: [
        ["inspect", "-"], ["load", "--no-sheet", "-"], ["convert", "--format", "png", "--output", "out", "-"],
        ["thumbnail", "--size", "9", "--output", "out", "-"], ["decode", "--output", "out", "-"], ["show", "-"],
    ])
    func `an empty standard input is named`(words: [String]) async throws {
        let outcome = try await alcedo.run(words)

        #expect(outcome.status == 1)
        #expect(outcome.problems == "alcedo: -: the data of standard input is empty\n", "\(outcome.problems)")
    }

    @Test(arguments: [[], ["--pixels"]])
    func `the largest size is refused in the same way in PNG and BMP`(options: [String]) async throws {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let side = 65_535
        var png = try ImageEncoder.png().encode(
            DecodedImage(
                pixels: #require(
                    PixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgba8, alphaMode: .opaque))))
        // The size is at the beginning of the first chunk, whose checksum follows it.
        png.replaceSubrange(16..<24, with: (number(side, 4).reversed() + number(side, 4).reversed()))
        png.replaceSubrange(29..<33, with: number(Int(Self.checksum(png[12..<29])), 4).reversed())
        let fields = [(54, 4), (0, 4), (54, 4), (40, 4), (side, 4), (side, 4), (1, 2), (24, 2), (0, 24)]
        let bmp = Data(Array("BM".utf8) + fields.flatMap { number($0.0, $0.1) })
        var outcomes: [Program.Outcome] = []
        for (name, data) in [("a.png", png), ("a.bmp", bmp)] {
            let file = directory.url.appending(path: name)
            try data.write(to: file)
            outcomes.append(try await alcedo.run(["inspect", file.path] + options))
        }

        #expect(outcomes.map(\.status) == [1, 1])
        for outcome in outcomes {
            let message = "65535 x 65535 pixels exceed the limit of 100000000 pixels (--max-pixels)\n"
            #expect(outcome.problems.hasSuffix(message), "\(outcome.problems)")
        }
    }

    /// The CRC-32 of a chunk. Source: PNG specification, annex D.
    private static func checksum(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }

    #if AVIF
        @Test(arguments: [[], ["--no-sandbox"]])
        func `damaged AVIF writes no lines of libavif and dav1d`(options: [String]) async throws {
            let file = directory.url.appending(path: "damaged.avif")
            for name in ["lossy", "grid", "sequence", "alpha"] {
                let intact = try Data(contentsOf: Self.tests.appending(path: "Fuzz/AVIF/Seeds/\(name).avif"))
                for part in [2, 3, 4] {
                    var data = intact
                    let start = data.count - data.count / part
                    data.replaceSubrange(start..<start + 8, with: [UInt8](repeating: 0xFF, count: 8))
                    try data.write(to: file)

                    let outcome = try await alcedo.run(
                        ["convert", file.path, "--format", "png", "--force", "--output", directory.path + "/out"]
                            + options)

                    #expect([0, 1].contains(outcome.status))
                    for line in outcome.problems.split(separator: "\n") {
                        #expect(line.hasPrefix("alcedo: "), "\(line)")
                    }
                }
            }
        }
    #endif
}
