import AlcedoProgramSupport
import Foundation

/// `alcedo-bench all`
struct AllBenchCommand: ProgramCommand {
    static let name = "all"
    static let help = """
        usage: alcedo-bench all --pictures DIR [options]

        Runs every benchmark in a separate process and writes report.md and report.svg with the results and their goals,
        the machine, the versions, and the output of each command; and report.json for --update. The programs
        alcedo and thumbnail-server must be in the directory of this program. The report is complete with --traits
        AVIF,HEIF,JXL,SVG,Sandbox: it then also has thumbnails of these formats, conversions of AVIF, and the sandbox.
        A run takes 35 minutes on an otherwise idle machine. The time of each part is printed.
        Tests/Benchmarks/bench-pictures creates the images, Tests/Benchmarks/bench-peers installs the interpreter, and
        both print their paths.

          --pictures DIR  read images from DIR, which has the directories wallpapers and web, and may have formats
          --python PATH   use the Python interpreter PATH, which has Pillow, pyvips and aiohttp (default: none; Alcedo
                          only)
          --output DIR    write the report to DIR (default: .)
          --force         replace an existing report
          --rounds N      measure N rounds of encoders, downloader, processors, colors, thumbnails and
                          conversions (default: 3)
          --only TEXT     run only parts whose title contains TEXT, such as Thumbnails; may be repeated
          --update        replace the report, and keep the other parts from report.json in --output if it is of the same
                          machine and versions
          --thresholds FILE
                          fail if a ratio is worse than its threshold in FILE, such as Tests/Benchmarks/thresholds.txt,
                          also when its part is measured again; print a line for FILE for a ratio without one, and the
                          five largest changes
          --ratios-only   omit what --thresholds does not compare, and the longest series, such as the wallpapers: a
                          run then takes a quarter of an hour

        """

    private struct Part {
        let title: String
        let words: [String]
        /// Whether the part records ratios, and is short enough for --ratios-only.
        var isCompared = true
    }

    private var imageDirectory = ""
    private var python: String?
    private var output = "."
    private var rounds = 3
    private var filters: [String] = []
    private var isUpdate = false
    private var replaces = false
    private var thresholds: BenchThresholds?
    private var isRatiosOnly = false

    private static let names = (data: "report.json", text: "report.md", plot: "report.svg")
    /// The directories that --pictures must have.
    private static let directories = ["wallpapers", "web"]

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--pictures": imageDirectory = try arguments.value(of: option)
        case "--python": python = try arguments.value(of: option)
        case "--output": output = try arguments.value(of: option)
        case "--rounds": rounds = try arguments.number(of: option, in: 1...1_000)
        case "--only": filters.append(try arguments.value(of: option))
        case "--update": isUpdate = true
        case "--force": replaces = true
        case "--thresholds": thresholds = try BenchThresholds(arguments.value(of: option))
        case "--ratios-only": isRatiosOnly = true
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        if imageDirectory.isEmpty { throw UsageError("all needs --pictures") }
    }

    func run() async throws -> ExitStatus {
        let parts = parts(imageDirectory)
        let compared = parts.filter { !isRatiosOnly || $0.isCompared }
        let chosen = Set(compared.map(\.title).filter { filters.isEmpty || filters.contains(where: $0.contains) })
        // The images are checked before the first benchmark, because a run takes minutes.
        for name in Self.directories
        where (try? FileManager.default.contentsOfDirectory(atPath: "\(imageDirectory)/\(name)")) == nil {
            throw UsageError(
                "--pictures needs a directory with the directories wallpapers and web, not '\(imageDirectory)'")
        }
        guard !chosen.isEmpty else {
            let titles = parts.map(\.title).joined(separator: ", ")
            throw UsageError("no part has this title; available: \(titles)")
        }
        let location = OutputDirectory(output, replaces: replaces || isUpdate, sparing: [])
        try location.prepare(for: [Self.names.data, Self.names.text, Self.names.plot])
        let directory = URL(filePath: output)
        let file = directory.appending(path: Self.names.data)
        var sections: [BenchReport.Section] = []
        let now = Date()
        let (machine, versions) = (BenchMachine.line, BenchMachine.versions(python: python))
        let earlier = isUpdate ? try Self.sections(of: file, machine, versions) : []
        var hasFailed = false
        var measured: [BenchFigure] = []
        for part in parts {
            guard chosen.contains(part.title) else {
                sections += earlier.filter { $0.title == part.title }
                continue
            }
            Console.output("\(part.title)\n")
            let start = ContinuousClock.now
            defer { Console.output("    \(Int((ContinuousClock.now - start) / .seconds(1))) s\n") }
            do {
                let section = try measure(part, in: directory, now)
                measured += section.figures
                for problem in thresholds?.problems(of: section.figures) ?? [] {
                    hasFailed = true
                    Console.problem("alcedo-bench: \(problem)")
                }
                for line in thresholds?.missingLines(of: section.figures) ?? [] {
                    Console.output("no threshold; add: \(line)\n")
                }
                sections.append(section)
            } catch {
                hasFailed = true
                Console.problem("alcedo-bench: \(part.title): \(error)")
                sections.append(
                    BenchReport.Section(
                        title: part.title, command: Self.command(part.words), output: "\(error)", figures: [],
                        stolen: nil, date: now))
            }
        }
        let report = BenchReport(
            date: now, machine: machine, versions: versions, sections: sections, plot: Self.names.plot)
        try location.write(JSONEncoder().encode(report), named: Self.names.data)
        try location.write(Data(report.markdown.utf8), named: Self.names.text)
        try location.write(Data(FigurePlot(figures: report.figures).svg.utf8), named: Self.names.plot)
        Console.output(report.table.joined(separator: "\n") + "\n")
        if let changes = thresholds?.largestChanges(of: measured), !changes.isEmpty {
            Console.output("\nlargest changes, compared without the margin:\n")
            for change in changes { Console.output("    \(change)\n") }
        }
        return hasFailed ? .failure : .success
    }

    /// Returns the sections of an earlier report of this machine with these versions.
    private static func sections(
        of file: URL, _ machine: String, _ versions: [String]
    ) throws -> [BenchReport.Section] {
        let report = try JSONDecoder().decode(BenchReport.self, from: try Data(contentsOf: file))
        guard report.machine == machine, report.versions == versions else {
            throw BenchError(
                description: "cannot update \(file.path): it is of another machine or of other versions")
        }
        return report.sections
    }

    private func parts(_ imageDirectory: String) -> [Part] {
        let peer = python.map { ["--python", $0] } ?? []
        let roundOptions = ["--rounds", "\(rounds)"]
        func short(_ options: String...) -> [String] { isRatiosOnly ? options : [] }
        func thumbnails(_ table: String) -> [String] {
            ["thumbnail", "--pictures", imageDirectory, "--only", table] + roundOptions + peer
        }
        return [
            Part(
                title: "Decoders",
                words: ["decode", "\(imageDirectory)/wallpapers", "--rounds", isRatiosOnly ? "1" : "3"]),
            Part(title: "Encoders", words: ["encode", "\(imageDirectory)/web"] + roundOptions + peer),
        ] + memoryParts(imageDirectory) + [
            Part(title: "Memory caches", words: ["memory-cache", "--entries", "1000", "--threads", "1"]),
            Part(
                title: "Memory caches, 100,000 entries",
                words: ["memory-cache", "--entries", "100000", "--threads", "1"]),
            // Neither times with many entries nor growths are ratios.
            Part(title: "Disk caches", words: ["disk-cache"] + short("--entries", "1000")),
            Part(title: "Response cache", words: ["response-cache"] + short("--urls", "1000")),
            Part(title: "Downloader", words: ["download"] + roundOptions + peer + short("--turn", "250")),
            Part(title: "Pipeline", words: ["pipeline"] + short("--images", "1000", "--rounds", "3")),
            Part(title: "View binding", words: ["binding"], isCompared: false),
            Part(title: "Processors", words: ["resize"] + roundOptions + peer),
            Part(title: "Colors", words: ["color"] + roundOptions + peer),
            Part(title: "Thumbnails, wallpapers", words: thumbnails("wallpapers"), isCompared: false),
            Part(title: "Thumbnails, web", words: thumbnails("web") + short("--most", "40")),
            Part(title: "Thumbnails from a server", words: thumbnails("server")),
        ] + formatParts(imageDirectory, roundOptions + peer) + [
            Part(
                title: "Conversions",
                words: ["convert", "--pictures", imageDirectory] + roundOptions + peer + short("--only", "jpeg")),
            Part(title: "Headers of small files", words: ["inspect"] + roundOptions),
            Part(title: "Start", words: ["start"], isCompared: false),
            Part(title: "Thumbnail server", words: ["server", "--pictures", imageDirectory] + roundOptions + peer),
        ] + lastParts
    }

    /// The parts that need no images: that of the sandbox, if the program is built with it, and the growth.
    private var lastParts: [Part] {
        var parts: [Part] = []
        #if Sandbox
            parts.append(Part(title: "Sandbox", words: ["sandbox"]))
        #endif
        parts.append(Part(title: "Growth", words: ["growth"], isCompared: false))
        return parts
    }

    /// Returns the part of further formats and of animations, if there are images of them.
    private func formatParts(_ imageDirectory: String, _ options: [String]) -> [Part] {
        guard FileManager.default.fileExists(atPath: "\(imageDirectory)/formats") else { return [] }
        let short = isRatiosOnly ? ["--only", "animated gif"] : []
        return [Part(title: "Further formats", words: ["formats", "--pictures", imageDirectory] + options + short)]
    }

    /// Returns the parts that measure the memory of a thumbnail of the largest wallpaper of each format.
    private func memoryParts(_ imageDirectory: String) -> [Part] {
        let directory = "\(imageDirectory)/wallpapers"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var largest: [String: (path: String, byteCount: Int)] = [:]
        for name in names {
            let path = "\(directory)/\(name)"
            let found = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            let (byteCount, format) = (found ?? 0, URL(filePath: path).pathExtension)
            if byteCount > largest[format]?.byteCount ?? 0 { largest[format] = (path, byteCount) }
        }
        return largest.sorted { $0.key < $1.key }.map { format, file in
            Part(
                title: "Memory of a decode, \(format)", words: ["memory", file.path, "--size", "320"],
                isCompared: false)
        }
    }

    /// Runs a benchmark and returns its output with the figures that it recorded. Runs it again if a figure is worse
    /// than its threshold, because another program may have disturbed the measurement.
    private func measure(_ part: Part, in directory: URL, _ date: Date) throws -> BenchReport.Section {
        let section = try measureOnce(part, in: directory, date)
        guard let thresholds, !thresholds.problems(of: section.figures).isEmpty else { return section }
        Console.output("\(part.title), again\n")
        return try measureOnce(part, in: directory, date)
    }

    private func measureOnce(_ part: Part, in directory: URL, _ date: Date) throws -> BenchReport.Section {
        let file = directory.appending(path: ".figures-\(ProcessInfo.processInfo.processIdentifier)")
        BenchCleanup.begin(file)
        defer {
            try? FileManager.default.removeItem(at: file)
            BenchCleanup.end(file)
        }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let variable = "\(BenchFigure.fileVariable)=\(file.path)"
        let stolenTime = StolenTime()
        // The report names the programs beside this one without their directory.
        let output = try BenchProcess.output(of: "/usr/bin/env", [variable, program.path] + part.words)
            .replacingOccurrences(of: program.deletingLastPathComponent().path + "/", with: "")
        return BenchReport.Section(
            title: part.title, command: Self.command(part.words), output: output,
            figures: BenchFigure.read(file.path), stolen: stolenTime.share, date: date)
    }

    private static func command(_ words: [String]) -> String {
        (["alcedo-bench"] + words).map { $0.contains("/") ? URL(filePath: $0).lastPathComponent : $0 }
            .joined(separator: " ")
    }
}

/// The processor time that the host gave to other virtual machines. The more it is, the less reliable are measurements.
private struct StolenTime {
    private let begin = Self.ticks

    /// The stolen fraction of the processor time since the creation of this value; nil if the system does not report
    /// it.
    var share: Double? {
        guard let begin, let now = Self.ticks, now.all > begin.all else { return nil }
        return Double(now.stolen - begin.stolen) / Double(now.all - begin.all)
    }

    /// The stolen and the total ticks of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
    /// steal (proc(5)). The fields after them are included in the first two.
    private static var ticks: (stolen: Int, all: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let line = text.split(separator: "\n").first
        else { return nil }
        let values = line.split(separator: " ").dropFirst().prefix(8).compactMap { Int($0) }
        return values.count == 8 ? (values[7], values.reduce(0, +)) : nil
    }
}
