import FoundationEssentials

/// What `bench all` has measured, as Markdown.
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
        let most = sections.compactMap(\.stolen).max() ?? 0
        guard most >= 0.01 else { return "" }
        return
            " Other machines on the same host took up to \(Int((100 * most).rounded())) % of the processors' time meanwhile."
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
