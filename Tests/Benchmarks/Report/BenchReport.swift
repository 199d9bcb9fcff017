import AlcedoCore
import AlcedoProgramSupport
import Foundation

/// The results of `alcedo-bench all`, as Markdown.
struct BenchReport: Codable {
    struct Section: Codable {
        let title: String
        /// The command that measures the section.
        let command: String
        /// The output of the command, or the error if it failed.
        let output: String
        let figures: [BenchFigure]
        /// The fraction of the processor time that the host gave to other machines during the run; nil if unknown.
        let stolen: Double?
        let date: Date
    }

    let date: Date
    let machine: String
    let versions: [String]
    var sections: [Section]
    /// The name of the plot beside the report.
    let plot: String

    var figures: [BenchFigure] { sections.flatMap(\.figures) }

    var markdown: String {
        let day = Self.day(date)
        var lines = [
            "# Benchmark results", "",
            "\(day), on \(machine). Ratios are of one run, in which the competitors were measured alternately."
                + stolenTimeNotice, "",
            "![The results relative to their goals, as bars](\(plot))", "",
        ]
        lines += table
        lines += ["", "Versions:", ""] + versions.map { "- \($0)" }
        for section in sections {
            lines += ["", "## \(section.title)", ""]
            if Self.day(section.date) != day { lines += ["Measured \(Self.day(section.date)).", ""] }
            lines += ["    \(section.command)", "", "```text"]
            lines += section.output.split(separator: "\n", omittingEmptySubsequences: false).map(Self.trimmed)
            lines += ["```"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The table of the figures, one row each.
    var table: [String] {
        ["| | measured | goal | |", "|--|--|--|--|"]
            + figures.map { figure in
                "| \(figure.name) | \(figure.shownValue) | \(figure.shownLimit) | \(figure.isMet ? "" : "missed") |"
            }
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

    /// A sentence about the processor time that the host gave to other machines; empty below 1 %.
    private var stolenTimeNotice: String {
        let maximum = sections.compactMap(\.stolen).max() ?? 0
        guard maximum >= 0.01 else { return "" }
        return
            " Other machines on the same host took up to \(Int((100 * maximum).rounded())) % of the processor time."
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}

/// The description of the machine and the software of a report.
enum BenchMachine {
    /// The processor, its cores, the memory, the kernel.
    static var line: String {
        let model = field("model name", in: "/proc/cpuinfo") ?? "an unknown processor"
        let memory = ProcessInfo.processInfo.physicalMemory >> 30
        let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        let kernel = release?.prefix { $0.isNumber || $0 == "." }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return "\(model), \(cores) cores, \(memory) GiB, Linux \(kernel ?? "")"
    }

    /// Debian's packages of the C libraries that are compared, with those of the package traits.
    private static let libraries = [
        "libpng16-16", "libdeflate0", "libjpeg62-turbo", "libwebp7", "libgif7", "libavif15", "libavif16", "libde265-0",
        "libheif1", "libjxl0.7", "libjxl0.11", "librsvg2-2", "liblcms2-2", "zlib1g", "libcurl4", "nginx",
    ]

    /// Returns the versions of this tool, of the system, of the installed compiler, of Debian's packages of the C
    /// libraries, and of the Python libraries of the interpreter.
    static func versions(python: String?) -> [String] {
        var lines = ["Alcedo \(AlcedoVersion.text)"]
        if let system = field("PRETTY_NAME", in: "/etc/os-release", separator: "=") {
            lines.append(system.trimmingCharacters(in: ["\""]))
        }
        if let swift = try? swiftBanner() {
            lines += swift.split(separator: "\n").first.map { [trimmed(String($0))] } ?? []
        }
        let format = "--showformat=${db:Status-Status} ${Package} ${Version}\\n"
        // Each package is queried separately, because dpkg-query fails if one package is unknown.
        lines += libraries.compactMap { package in
            guard let line = try? BenchProcess.output(of: "/usr/bin/env", ["dpkg-query", "--show", format, package]),
                line.hasPrefix("installed ")
            else { return nil }
            return trimmed(String(line.dropFirst("installed ".count)))
        }
        guard let python else { return lines }
        let program = """
            import sys; print("Python", sys.version.split()[0])
            import PIL; print("Pillow", PIL.__version__)
            import aiohttp; print("aiohttp", aiohttp.__version__)
            import pyvips; print("libvips", ".".join(str(pyvips.version(i)) for i in range(3)))
            """
        // OpenCV and Thumbor are optional.
        let commands = [
            ["/usr/bin/env", python, "-c", program],
            ["/usr/bin/env", python, "-c", #"import cv2; print("OpenCV", cv2.__version__)"#],
            ServerBenchCommand.thumbor(beside: python).map { [$0, "--version"] } ?? [],
        ]
        for command in commands where !command.isEmpty {
            let output = try? BenchProcess.output(of: command[0], Array(command.dropFirst()))
            lines += (output ?? "").split(separator: "\n").map(String.init)
        }
        return lines
    }

    /// Returns the output of `swift --version`. The driver leaves a directory in the temporary directory, so it gets
    /// one that is removed.
    private static func swiftBanner() throws -> String {
        let scratch = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { scratch.remove() }
        return try BenchProcess.output(of: "/usr/bin/env", ["TMPDIR=\(scratch.url.path)", "swift", "--version"])
    }

    private static func field(_ name: String, in path: String, separator: Character = ":") -> String? {
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: separator, maxSplits: 1).last.map { trimmed(String($0)) }
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
