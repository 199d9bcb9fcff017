import AlcedoProgramSupport
import Foundation

/// The worst accepted values of figures, from a file. A goal is an aim, which may be missed. A figure that is worse
/// than its threshold is a regression.
///
/// Each line has a bound, a vertical bar and the name of a figure: `at most 1.1 | decode jpeg: ...`. Empty lines and
/// lines that begin with `#` are ignored. Only ratios are compared, because other values depend on the machine.
struct BenchThresholds {
    private var bounds: [String: BenchFigure.Goal] = [:]
    private let path: String

    /// Reads a file. Throws ``BenchError`` if a line is invalid or a name occurs twice.
    init(_ path: String) throws {
        self.path = path
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw BenchError(description: "cannot read the thresholds \(path)")
        }
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            guard let (name, bound) = Self.parse(line), bounds.updateValue(bound, forKey: name) == nil else {
                throw BenchError(
                    description: "\(path), line \(number + 1): expected 'at most NUMBER | NAME' or 'at least NUMBER | "
                        + "NAME' with a new name, not '\(line)'")
            }
        }
    }

    private static func parse(_ line: String) -> (name: String, bound: BenchFigure.Goal)? {
        let parts = line.split(separator: "|", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        let words = parts[0].split(separator: " ")
        guard words.count == 3, words[0] == "at", let value = Double(words[2]), value > 0 else { return nil }
        switch words[1] {
        case "most": return (parts[1], .atMost(value))
        case "least": return (parts[1], .atLeast(value))
        default: return nil
        }
    }

    /// Returns a sentence for each ratio that is worse than its threshold.
    func problems(of figures: [BenchFigure]) -> [String] {
        figures.compactMap { figure in
            guard let bound = threshold(of: figure) else { return nil }
            let bounded = BenchFigure(figure.name, figure.value, bound)
            guard !bounded.isMet else { return nil }
            return "\(figure.name): \(figure.shownValue) is worse than the threshold, \(bounded.shownLimit)"
        }
    }

    /// Returns a line for the file for each ratio without a threshold, with the margin.
    func missingLines(of figures: [BenchFigure]) -> [String] {
        figures.filter { $0.unit.isEmpty && threshold(of: $0) == nil }.map { figure in
            let bound: BenchFigure.Goal =
                if figure.goal.isMaximum {
                    .atMost(figure.value * Self.margin)
                } else if Self.isDecibels(figure) {
                    .atLeast(figure.value - Self.marginInDecibels)
                } else {
                    .atLeast(figure.value / Self.margin)
                }
            return "\(BenchFigure(figure.name, figure.value, bound).shownLimit) | \(figure.name)"
        }
    }

    /// Returns a line for each of the ratios that differ most from the value for which their threshold was made, the
    /// largest change first.
    func largestChanges(of figures: [BenchFigure], count: Int = 5) -> [String] {
        let changes = figures.compactMap { figure -> (figure: BenchFigure, expected: Double, factor: Double)? in
            guard let expected = expectedValue(of: figure), expected > 0, figure.value > 0 else { return nil }
            return (figure, expected, figure.value / expected)
        }
        return changes.sorted { abs(log($0.factor)) > abs(log($1.factor)) }.prefix(count).map { change in
            let isWorse = (change.factor > 1) == change.figure.goal.isMaximum
            let percent = Int((abs(change.factor - 1) * 100).rounded())
            let shown = BenchFigure(change.figure.name, change.expected, change.figure.goal).shownValue
            return "\(change.figure.name): \(change.figure.shownValue), \(percent) % \(isWorse ? "worse" : "better") "
                + "than \(shown)"
        }
    }

    /// The margin of a threshold is 20 percent, or 2.5 for decibels, of which more are always better.
    private static let (margin, marginInDecibels) = (1.2, 2.5)

    private static func isDecibels(_ figure: BenchFigure) -> Bool { figure.name.hasSuffix(" in dB") }

    /// Returns the value for which the threshold of a ratio was made: the threshold without the margin. Returns nil for
    /// a figure without a threshold.
    private func expectedValue(of figure: BenchFigure) -> Double? {
        switch threshold(of: figure) {
        case .atMost(let limit): limit / Self.margin
        case .atLeast(let limit): Self.isDecibels(figure) ? limit + Self.marginInDecibels : limit * Self.margin
        case nil: nil
        }
    }

    /// Returns the threshold of a ratio, or nil if it has none with the direction of its goal.
    private func threshold(of figure: BenchFigure) -> BenchFigure.Goal? {
        guard figure.unit.isEmpty, let bound = bounds[figure.name], bound.isMaximum == figure.goal.isMaximum else {
            return nil
        }
        return bound
    }
}
