/// Counts outcomes by kind of file, and stores failures.
struct ConformanceTable {
    private struct Row {
        var files = 0
        var passed = 0
        var outcomes: [String: Int] = [:]
    }

    private var rows: [String: Row] = [:]
    private var failures: [String] = []

    /// Whether every file had the expected outcome. Files on which other decoders disagree count too.
    var isClean: Bool { failures.isEmpty && !rows.isEmpty }

    mutating func add(_ path: String, row name: String, outcome: String, _ problems: [String]) {
        rows[name, default: Row()].files += 1
        rows[name]?.outcomes[outcome, default: 0] += 1
        if problems.isEmpty {
            rows[name]?.passed += 1
        } else {
            failures.append("\(path): \(problems.joined(separator: "; "))")
        }
    }

    var text: String {
        var lines = failures
        for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
            let outcomes = row.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            lines.append("\(row.passed)/\(row.files)  \(name)  (\(outcomes.joined(separator: ", ")))")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
