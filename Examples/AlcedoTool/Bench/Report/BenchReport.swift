import FoundationEssentials

/// What `bench all` has measured, as Markdown.
struct BenchReport {
    struct Section {
        let title: String
        /// What makes the numbers again.
        let command: String
        /// What it printed, or why it failed.
        let output: String
        let figures: [BenchFigure]
    }

    let date: Date
    let machine: String
    let versions: [String]
    let sections: [Section]
    /// The name of the plot beside the report.
    let plot: String

    var figures: [BenchFigure] { sections.flatMap(\.figures) }

    var markdown: String {
        let day = date.formatted(.iso8601.year().month().day())
        var lines = [
            "# Measured", "",
            "\(day), on \(machine). Ratios are of one run, in which all took turns.", "",
            "![Bars of what was measured beside what was asked](\(plot))", "",
        ]
        lines += table
        lines += ["", "With:", ""] + versions.map { "- \($0)" }
        for section in sections {
            lines += ["", "## \(section.title)", "", "    \(section.command)", "", "```text"]
            lines += section.output.split(separator: "\n", omittingEmptySubsequences: false).map(Self.trimmed)
            lines += ["```"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A row for each figure.
    var table: [String] {
        ["| | measured | asked | |", "|--|--|--|--|"]
            + figures.map { figure in
                "| \(figure.name) | \(figure.shownValue) | \(figure.shownLimit) | \(figure.isMet ? "" : "short") |"
            }
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
