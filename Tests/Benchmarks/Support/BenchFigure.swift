import AlcedoLibc
import FoundationEssentials

/// A measured value with its goal.
struct BenchFigure: Codable {
    enum Goal: Codable {
        case atMost(Double)
        case atLeast(Double)

        var isMaximum: Bool {
            switch self {
            case .atMost: true
            case .atLeast: false
            }
        }
    }

    /// The environment variable with the path of the file to which figures are appended, one line of JSON each. If it
    /// is not set, figures are not recorded.
    static let fileVariable = "ALCEDO_BENCH_FIGURES"

    let name: String
    let value: Double
    /// The unit; empty for a ratio.
    let unit: String
    let goal: Goal

    init(_ name: String, _ value: Double, unit: String = "", _ goal: Goal) {
        self.name = name
        self.value = value
        self.unit = unit
        self.goal = goal
    }

    /// The value relative to the goal, greater for a better value; at least 1 if the goal is met.
    var merit: Double {
        switch goal {
        case .atMost(let limit): limit / value
        case .atLeast(let limit): value / limit
        }
    }

    /// Whether the goal is met by the value as it is displayed.
    var isMet: Bool {
        switch goal {
        case .atMost(let limit): Self.rounded(value) <= limit
        case .atLeast(let limit): Self.rounded(value) >= limit
        }
    }

    var shownValue: String { Self.text(value) + unit }

    var shownLimit: String {
        switch goal {
        case .atMost(let limit): "at most \(Self.text(limit))\(unit)"
        case .atLeast(let limit): "at least \(Self.text(limit))\(unit)"
        }
    }

    /// Appends the figure to the file of ``fileVariable``.
    func record() {
        guard let path = ProcessInfo.processInfo.environment[Self.fileVariable],
            let line = try? JSONEncoder().encode(self), let file = fopen(path, "a")
        else { return }
        defer { fclose(file) }
        _ = (line + [0x0A]).withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
    }

    /// Returns the figures in a file.
    static func read(_ path: String) -> [BenchFigure] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        return data.split(separator: 0x0A).compactMap { try? JSONDecoder().decode(BenchFigure.self, from: Data($0)) }
    }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    private static func text(_ value: Double) -> String {
        value >= 100 || value == value.rounded() ? "\(Int(value.rounded()))" : "\(rounded(value))"
    }
}

/// Functions that format the rows of a table, and that measure and format times.
enum BenchTable {
    static func row(_ cells: [String]) -> String {
        cells.map { $0 + String(repeating: " ", count: max(2, 25 - $0.count)) }.joined() + "\n"
    }

    static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    static func microseconds(_ duration: Duration) -> Double { duration / .microseconds(1) }

    /// Returns the mean time of one operation when `concurrency` tasks perform `count` operations together.
    static func microseconds(
        _ count: Int, concurrency: Int, _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<concurrency {
                    group.addTask {
                        for number in stride(from: task, to: count, by: concurrency) { try await work(number) }
                    }
                }
                try await group.waitForAll()
            }
        }
        return microseconds(time) / Double(count)
    }
}
