import TestSupport
import AlcedoTesting
import Foundation
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct BenchmarkTests {
    let directory: TemporaryDirectory
    let bench: Program

    init() throws {
        directory = try TemporaryDirectory()
        bench = Program(name: "alcedo-bench", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test func `a report is overwritten only on request, and images are checked first`() async throws {
        let report = directory.url.appending(path: "report.md")
        let sources = directory.url.appending(path: "pictures")
        let location = ["--output", directory.path, "--pictures", sources.path]
        let words = ["all", "--only", "Memory of a decode"] + location
        #expect(try await bench.run(words).status == 2)
        for name in ["wallpapers", "web"] {
            try FileManager.default.createDirectory(
                at: sources.appending(path: name), withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            at: SampleImages.directory.appending(path: "rings.png"), to: sources.appending(path: "wallpapers/0.png"))
        try Data("mine".utf8).write(to: report)

        let rejected = try await bench.run(words)

        #expect(rejected.status == 1)
        #expect(rejected.problems == "alcedo-bench: \(report.path) already exists; use --force to replace it\n")
        #expect(try Data(contentsOf: report) == Data("mine".utf8))
        #expect(try await bench.run(words + ["--force"]).status == 0)
        #expect(try Data(contentsOf: report) != Data("mine".utf8))
        let produced = try String(contentsOf: report, encoding: .utf8)
        #expect(produced.contains("\n## Memory of a decode, png\n\n    alcedo-bench memory"))

        let unknown = try await bench.run(["all", "--only", "nothing", "--force"] + location)
        #expect(unknown.status == 2)
        #expect(unknown.problems.contains("no part has this title"))
        #expect(try String(contentsOf: report, encoding: .utf8) == produced)
    }

    @Test func `kept parts are of the same machine and name their date`() async throws {
        let sources = directory.url.appending(path: "pictures")
        for name in ["wallpapers", "web"] {
            try FileManager.default.createDirectory(
                at: sources.appending(path: name), withIntermediateDirectories: true)
        }
        for name in ["0.png", "1.jpg"] {
            let sample = SampleImages.directory.appending(path: name == "0.png" ? "rings.png" : "dunes.jpg")
            try FileManager.default.copyItem(at: sample, to: sources.appending(path: "wallpapers/\(name)"))
        }
        let words = ["all", "--output", directory.path, "--pictures", sources.path]
        #expect(try await bench.run(words + ["--only", "Memory of a decode"]).status == 0)
        let data = directory.url.appending(path: "report.json")
        var report = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: data)) as? [String: Any])
        var sections = try #require(report["sections"] as? [[String: Any]])
        #expect(sections.count == 2)
        for index in sections.indices { sections[index]["date"] = 0 }
        report["sections"] = sections
        try JSONSerialization.data(withJSONObject: report).write(to: data)

        let update = words + ["--only", "png", "--update"]
        #expect(try await bench.run(update).status == 0)

        let text = try String(contentsOf: directory.url.appending(path: "report.md"), encoding: .utf8)
        #expect(text.contains("## Memory of a decode, jpg\n\nMeasured 2001-01-01.\n"))
        #expect(text.components(separatedBy: "\nMeasured 2001-01-01.\n").count == 2)

        report["machine"] = "another"
        try JSONSerialization.data(withJSONObject: report).write(to: data)
        let rejected = try await bench.run(update)
        #expect(rejected.status == 1)
        #expect(rejected.problems.contains("is of another machine or of other versions"))
    }

    @Test func `the decode benchmark prints a ratio for each image and format`() async throws {
        for name in ["tiles.png", "turned.jpg"] {
            try SampleImages.data(name).write(to: directory.url.appending(path: name))
        }
        try Data("no image".utf8).write(to: directory.url.appending(path: "notes.txt"))

        let outcome = try await bench.run(["decode", directory.url.path, "--rounds", "2"])

        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        // The second ratio requires libspng.
        #expect(try lines[0].wholeMatch(of: Regex(#"(\d+\.\d{3}  ){1,2}png  262144 pixels  tiles\.png"#)) != nil)
        #expect(lines[2].hasPrefix("jpeg: "))
        #expect(lines[3].hasPrefix("png: "))
    }

    @Test func `the formats benchmark measures the first and all frames of animations`() async throws {
        // The test's file is in Tests/Tool.
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let words = ["formats", "--pictures", directory.path, "--rounds", "1"]
        #expect(try await bench.run(words).problems.contains("no images in"))
        let formats = directory.url.appending(path: "formats")
        try FileManager.default.createDirectory(at: formats, withIntermediateDirectories: true)
        for (module, name) in [("GIF", "animated.gif"), ("WebP", "animated.webp")] {
            try FileManager.default.copyItem(
                at: tests.appending(path: "\(module)/Fixtures/\(name)"), to: formats.appending(path: name))
        }

        let outcome = try await bench.run(words)

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").dropFirst()
        try #require(rows.count == 4)
        let names = ["gif, first frame", "gif, all frames", "webp, first frame", "webp, all frames"]
        for (row, name) in zip(rows, names) {
            #expect(row.hasPrefix("1 animated \(name)"))
            // The times of the package and of the C loop, between which those of both versions of libvips are missing.
            let cells = row.dropFirst("1 animated \(name)".count).split(separator: " ")
            #expect(cells[1...2] == ["-", "-"])
            #expect(try #require(Double(cells[0])) > 0)
            #expect(Double(cells[3]) != nil)
        }
        let one = try await bench.run(words + ["--only", "gif, all"])
        #expect(one.output.split(separator: "\n").count == 2)
    }

    @Test func `the convert benchmark prints the time and the memory of each conversion`() async throws {
        let words = ["convert", "--pictures", directory.path, "--rounds", "1", "--megapixels", "1"]
        #expect(try await bench.run(words).problems.contains("no images in"))
        let wallpapers = directory.url.appending(path: "wallpapers")
        try FileManager.default.createDirectory(at: wallpapers, withIntermediateDirectories: true)
        for name in ["dunes.jpg", "tiles.png", "turned.jpg"] {
            try SampleImages.data(name).write(to: wallpapers.appending(path: name))
        }

        let outcome = try await bench.run(words + ["--only", "webp"])

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").dropFirst().map { row in
            row.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let names = ["inside", "cover", "variants", "largest", "equal"]
        try #require(rows.count == names.count + 2)
        for (row, name) in zip(rows, names) {
            #expect(row[0] == "webp, \(name)")
            #expect(try #require(Double(row[1])) > 0)
            // Without an interpreter, the time of libvips, the ratios and the quality are missing.
            #expect(row[2...4] == ["-", "-", "-"])
            #expect(try #require(Double(row[5])) > 0)
            #expect(row.last == "-")
        }
        #expect(rows[5][0].hasPrefix("webp, three variants relative to the largest: "))
        #expect(rows[6][0].hasPrefix("webp, cover relative to inside of as many pixels: "))
        let unknown = try await bench.run(words + ["--only", "tga"])
        #expect(unknown.status == 2)
        #expect(unknown.problems.contains("no format has this name; available: jpeg, png, webp"))
        #expect(try await bench.run(["convert"]).status == 2)
    }

    @Test func `the inspect benchmark compares the tool with a loop over the headers of all files`() async throws {
        let outcome = try await bench.run(["inspect", "--files", "40", "--rounds", "1"])

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n")
        #expect(rows[0].hasPrefix("40 files"))
        for (row, name) in zip(rows.dropFirst(), ["alcedo inspect", "C loop"]) {
            #expect(row.hasPrefix(name))
            #expect(try #require(Double(row.dropFirst(name.count).split(separator: " ")[0])) > 0)
        }
        #expect(rows.count >= 3)
        let missing = try await bench.run(["inspect", "--files", "4", "--alcedo", "/nowhere/alcedo"])
        #expect(missing.status == 1)
        #expect(missing.problems.contains("cannot run /nowhere/alcedo"))
    }

    @Test func `the start benchmark prints the time, the memory and the libraries of each program`() async throws {
        let outcome = try await bench.run(["start", "--rounds", "2"])

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let (alcedo, empty) = (rows[1], try #require(rows.first { $0.last == "/bin/true" }))
        #expect(alcedo.last == "--version")
        #expect(try #require(Double(alcedo[0])) > 0)
        // The program does more than none, and its memory does not include that of the benchmark, which is larger.
        #expect(try #require(Double(alcedo[2])) > #require(Double(empty[2])))
        #expect(try #require(Double(empty[2])) < 8)
        #expect(try #require(Int(alcedo[3])) > #require(Int(empty[3])))
        #if Sandbox
            #expect(rows.count == 4)
            #expect(rows[3].contains("worker"))
            #expect(try #require(Double(rows[3][2])) > 1)
        #else
            #expect(rows.count == 3)
        #endif
        let failing = try await bench.run(["start", "--alcedo", "/bin/false", "--rounds", "1"])
        #expect(failing.status == 1)
        #expect(failing.problems.contains("/bin/false --version: exit status 1"))
    }

    @Test func `the encode benchmark prints the times and the bytes of each format`() async throws {
        for name in ["tiles.png", "turned.jpg"] {
            try SampleImages.data(name).write(to: directory.url.appending(path: name))
        }

        let outcome = try await bench.run(["encode", directory.url.path, "--rounds", "1"])

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        for format in ["jpeg", "png", "webp"] {
            let row = try #require(rows.first { $0.count == 4 && $0[1] == format })
            #expect(try #require(Double(row[2])) >= 0)
            #expect(try #require(Int(row[3])) > 100)
        }
    }

    @Test(.enabled(if: SecureOrigin.isInstalled))
    func `the server benchmark measures thumbnails of every image, and omits Thumbor if it is missing`() async throws {
        let web = directory.url.appending(path: "web")
        try FileManager.default.createDirectory(at: web, withIntermediateDirectories: true)
        for name in ["tiles.png", "turned.jpg"] { try SampleImages.data(name).write(to: web.appending(path: name)) }
        let words = ["server", "--pictures", directory.path, "--rounds", "1"]

        let outcome = try await bench.run(words)

        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(rows.count == 3)
        #expect(rows[0].prefix(3) == ["2", "JPEG", "thumbnails"])
        #expect(try #require(Int(rows[1][1])) > 0)
        #expect(try #require(Int(rows[2][3])) > 1)

        let alone = try await bench.run(words + ["--python", directory.url.appending(path: "python3").path])
        #expect(alone.status == 0)
        #expect(alone.output.split(separator: "\n").count == 3)

        try Data("no image".utf8).write(to: web.appending(path: "broken.png"))
        let broken = try await bench.run(words)
        #expect(broken.status == 1)
        #expect(broken.problems.contains("1 invalid responses"))
    }

    @Test func `a ratio that is worse than its threshold fails, and one without a threshold is printed`() async throws {
        let sources = directory.url.appending(path: "pictures")
        for name in ["wallpapers", "web"] {
            try FileManager.default.createDirectory(
                at: sources.appending(path: name), withIntermediateDirectories: true)
        }
        try SampleImages.data("tiles.png").write(to: sources.appending(path: "wallpapers/0.png"))
        let file = directory.url.appending(path: "thresholds.txt")
        let words = ["all", "--only", "Decoders", "--force", "--output", directory.path, "--pictures", sources.path]
        func run(_ thresholds: String) async throws -> Program.Outcome {
            try Data(thresholds.utf8).write(to: file)
            return try await bench.run(words + ["--thresholds", file.path])
        }
        let name = "decode png: time relative to the C loop"
        let other = "decode png: time relative to libspng"

        let bounds = "at most 1000 | \(name)\nat most 1000 | \(other)\nat least 5 | another ratio\n"
        let good = try await run("# comment\n\n\(bounds)")
        #expect(good.status == 0)
        #expect(good.problems == "")
        #expect(!good.output.contains("threshold"))
        #expect(good.output.contains("\nlargest changes, compared without the margin:\n    \(name): ") == true)
        let ratios = try await bench.run(words + ["--ratios-only", "--thresholds", file.path])
        #expect(ratios.status == 0)
        let omitted = try await bench.run(
            ["all", "--only", "Growth", "--ratios-only", "--force", "--output", directory.path]
                + ["--pictures", sources.path])
        #expect(omitted.status == 2)
        #expect(omitted.problems.contains("no part has this title"))
        let worse = try await run("at most 0.001 | \(name)\n")
        #expect(worse.status == 1)
        #expect(worse.output.contains("Decoders, again\n"))
        #expect(worse.problems.hasPrefix("alcedo-bench: \(name): "))
        #expect(worse.problems.contains("worse than the threshold"))
        let missing = try await run("at least 1000 | \(name)\n")
        #expect(missing.status == 0)
        #expect(missing.output.contains("no threshold; add: at most "))
        for invalid in ["at most x | a", "at most 1", "most 1 | a", "at most 1 | a\nat most 2 | a", "at most 0 | a"] {
            let outcome = try await run(invalid)
            #expect(outcome.status == 1, "\(invalid)")
            #expect(outcome.problems.contains("thresholds.txt, line "), "\(invalid)")
        }
    }

    @Test func `the checked-in thresholds name each ratio of the report once`() throws {
        // The test's file is in Tests/Tool.
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let lines = try String(contentsOf: tests.appending(path: "Benchmarks/thresholds.txt"), encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
        let names = lines.compactMap { $0.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) }
        #expect(Set(names).count == lines.count)
        let report = try String(contentsOf: tests.appending(path: "Benchmarks/report.md"), encoding: .utf8)
        for row in report.split(separator: "\n") {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, Double(cells[1]) != nil else { continue }
            #expect(names.contains(cells[0]), "\(cells[0])")
        }
    }

    @Test func `the results of the README are rows of the report, with their goals`() throws {
        // The test's file is in Tests/Tool.
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let report = try String(contentsOf: tests.appending(path: "Benchmarks/report.md"), encoding: .utf8)
        let readme = try String(
            contentsOf: tests.deletingLastPathComponent().appending(path: "README.md"), encoding: .utf8)
        let table = try #require(readme.components(separatedBy: "\n| Row of the report |").last)
        let rows = table.components(separatedBy: "\n\n")[0].split(separator: "\n").dropFirst(2)
        #expect(rows.count == 3)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).prefix(5)
            #expect(report.contains("\n\(cells.joined(separator: "|"))|\n"), "\(row)")
        }
    }

    @Test func `the pipeline benchmark counts one download and one decode for many requests`() async throws {
        let outcome = try await bench.run([
            "pipeline", "--directory", directory.path, "--images", "16", "--requests", "200", "--rounds", "1",
        ])

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains { $0.starts(with: ["200", "requests", "1", "1"]) })
        #expect(rows.contains { $0.first == "16" && (Int($0[1]) ?? 0) > 0 })
        #expect(rows.contains { $0.first == "cachedImage" && (Int($0[1]) ?? 0) > 0 })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy {
                !$0.hasPrefix("alcedo-bench")
            })
    }

    @Test func `the binding benchmark prints the cost of a bind, and only the last of a thousand loads`() async throws {
        let outcome = try await bench.run(["binding", "--binds", "100", "--rounds", "2"])

        #expect(outcome.problems == "")
        #expect(outcome.status == 0)
        let rows = outcome.output.split(separator: "\n").dropFirst().map { String($0) }
        for name in ["new view", "equal request", "cancel, bind another", "in memory", "until displayed"] {
            let row = rows.first { $0.hasPrefix(name) }
            #expect(row.flatMap { Double($0.dropFirst(25).prefix { $0 != " " }) }.map { $0 > 0 } == true, "\(name)")
        }
        #expect(rows.contains { $0.hasPrefix("loads started") && $0.contains("1 of 1000 binds") })
    }

    @Test(arguments: [["--binds", "0"], ["--rounds", "x"], ["extra"]])
    func `the binding benchmark rejects unknown options with a usage error`(words: [String]) async throws {
        #expect(try await bench.run(["binding"] + words).status == 2)
    }

    @Test(arguments: [["--images", "0"], ["--requests", "x"], ["--rounds=0"], ["extra"], ["--size", "1"]])
    func `the pipeline benchmark rejects unknown options with a usage error`(words: [String]) async throws {
        #expect(try await bench.run(["pipeline"] + words).status == 2)
    }

    @Test func `a directory without images is an error`() async throws {
        let outcome = try await bench.run(["decode", directory.url.path])

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("no image in"))
    }

    @Test func `a trace is replayed with each policy at several sizes and fractions`() async throws {
        // A loop of forty keys through space for thirty: LRU never hits, and scan-resistant policies do.
        let loop = (0..<800).map { "\($0),key\($0 % 40),10\n" }.joined()
        let file = directory.url.appending(path: "loop.csv")
        try Data("time,key,size\n\(loop)".utf8).write(to: file)

        let outcome = try await bench.run(
            ["memory-cache", "--trace", file.path, "--capacity", "300", "--capacity", "75%"])

        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first == "800 requests, footprint 400")
        #expect(lines.count == 1 + 2 * 4)
        #expect(lines.filter { $0.hasPrefix("300 lru 0.00 0.00") }.count == 2)
        let adaptive = try #require(lines.first { $0.hasPrefix("300 adaptive ") }?.split(separator: " "))
        #expect(try #require(Double(adaptive[2])) > 30)
    }

    @Test(arguments: [
        ["--trace", "x.csv"], ["--capacity", "5"], ["--trace", "x.csv", "--capacity", "0"],
        ["--trace", "x.csv", "--capacity", "5", "--policy", "best"], ["--entries", "1"], ["extra"], ["--nonsense"],
    ])
    func `the cache benchmark rejects unknown options with a usage error`(arguments: [String]) async throws {
        let outcome = try await bench.run(["memory-cache"] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
    }

    @Test func `an invalid trace is reported with its line number`() async throws {
        let file = directory.url.appending(path: "bad.csv")
        try Data("0,a,1\n1,b\n2,c,large\n".utf8).write(to: file)
        let bad = try await bench.run(["memory-cache", "--trace", file.path, "--capacity", "5"])
        #expect(bad.status == 2)
        #expect(bad.problems.contains("line 3"))
        let missing = try await bench.run(["memory-cache", "--trace", "/nowhere.csv", "--capacity", "5"])
        #expect(missing.status == 1)
        #expect(missing.problems.contains("/nowhere.csv"))
    }

    @Test func `the cache benchmark prints a row for each entry count`() async throws {
        let outcome = try await bench.run([
            "memory-cache", "--entries", "100", "--threads", "1", "--operations", "100",
        ])
        #expect(outcome.status == 0)
        #expect(outcome.output.split(separator: "\n").filter { $0.hasPrefix("100 ") }.count == 3)
    }

    @Test func `the memory of a thumbnail is measured and predicted`() async throws {
        let file = SampleImages.path("dunes.jpg")

        let outcome = try await bench.run(["memory", file, "--size", "100"])

        #expect(outcome.status == 0)
        #expect(outcome.output.contains("jpeg, 1200 x 800 pixels, 1 frames, decoded to 150 x 100"))
        #expect(outcome.output.contains("predicted: 0.0"))
    }

    @Test(arguments: [
        "decode", "encode", "memory", "disk-cache", "memory-cache", "response-cache", "download", "pipeline", "binding",
        "resize", "color", "thumbnail", "formats", "inspect", "start", "server", "sandbox", "growth", "all",
    ])
    func `help fits the line width`(command: String) async throws {
        let help = try await bench.run([command, "--help"])

        #expect(help.status == 0)
        #expect(help.problems == "")
        #expect(help.output.hasPrefix("usage: alcedo-bench \(command)"))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 124 })
        #expect(try await bench.run(["--help"]).output.contains("alcedo-bench \(command)"))
        #expect(try await bench.run(["help", command]).output == help.output)
    }

    @Test(arguments: [
        [], ["nonsense"], ["decode"], ["encode"], ["memory"], ["decode", "a", "b"], ["formats"], ["inspect", "a"],
        ["start", "--rounds", "0"], ["server"], ["server", "--only", "a", "--pictures", "b"], ["all"],
    ])
    func `an invalid command line is explained and exits with status 2`(words: [String]) async throws {
        let outcome = try await bench.run(words)

        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("alcedo-bench: "))
        #expect(outcome.problems.hasSuffix("--help'\n"))
    }
}
