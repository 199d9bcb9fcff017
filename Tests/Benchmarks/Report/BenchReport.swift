import AlcedoCore
import AlcedoProgramSupport
import Foundation

/// What `alcedo-bench all` has measured, as Markdown.
struct BenchReport: Codable {
    struct Section: Codable {
        let title: String
        /// What makes the numbers again.
        let command: String
        /// What it printed, or why it failed.
        let output: String
        let figures: [BenchFigure]
        /// Of the processors' time meanwhile; nil where that is not known.
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
            "# Measured", "",
            "\(day), on \(machine). Ratios are of one run, in which all took turns.\(theft)", "",
            "![Bars of what was measured beside the goals](\(plot))", "",
        ]
        lines += table
        lines += ["", "With:", ""] + versions.map { "- \($0)" }
        for section in sections {
            lines += ["", "## \(section.title)", ""]
            if Self.day(section.date) != day { lines += ["Measured \(Self.day(section.date)).", ""] }
            lines += ["    \(section.command)", "", "```text"]
            lines += section.output.split(separator: "\n", omittingEmptySubsequences: false).map(Self.trimmed)
            lines += ["```"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A row for each figure.
    var table: [String] {
        ["| | measured | goal | |", "|--|--|--|--|"]
            + figures.map { figure in
                "| \(figure.name) | \(figure.shownValue) | \(figure.shownLimit) | \(figure.isMet ? "" : "short") |"
            }
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

    /// What others took of the machine.
    private var theft: String {
        let maximum = sections.compactMap(\.stolen).max() ?? 0
        guard maximum >= 0.01 else { return "" }
        return
            " Other machines on the same host took up to \(Int((100 * maximum).rounded())) % of the processors' time meanwhile."
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}

/// What a report says of where it was measured.
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

    /// This tool, the system, the compiler that is installed, Debian's packages of the C libraries, and the peers of
    /// `python`.
    static func versions(python: String?) -> [String] {
        var lines = ["Alcedo \(AlcedoVersion.text)"]
        if let system = field("PRETTY_NAME", in: "/etc/os-release", separator: "=") {
            lines.append(system.trimmingCharacters(in: ["\""]))
        }
        if let swift = try? swiftBanner() {
            lines += swift.split(separator: "\n").first.map { [trimmed(String($0))] } ?? []
        }
        let packages = ["libpng16-16", "libjpeg62-turbo", "libwebp7", "libgif7", "zlib1g", "libcurl4", "nginx"]
        let format = "--showformat=${db:Status-Status} ${Package} ${Version}\\n"
        // One after another: it fails as a whole where one is not known.
        lines += packages.compactMap { package in
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
        let peers = try? BenchProcess.output(of: "/usr/bin/env", [python, "-c", program])
        return lines + (peers ?? "").split(separator: "\n").map(String.init)
    }

    /// Swift's driver leaves a folder in the temporary one; it is given one that goes.
    private static func swiftBanner() throws -> String {
        let folder = try BenchDirectory(in: FileManager.default.temporaryDirectory)
        defer { folder.remove() }
        return try BenchProcess.output(of: "/usr/bin/env", ["TMPDIR=\(folder.url.path)", "swift", "--version"])
    }

    private static func field(_ name: String, in path: String, separator: Character = ":") -> String? {
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: separator, maxSplits: 1).last.map { trimmed(String($0)) }
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespacesAndNewlines) }
}
