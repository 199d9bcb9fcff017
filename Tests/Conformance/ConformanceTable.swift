/// Counts outcomes by kind of file, and stores failures.
struct ConformanceTable {
    private struct Row {
        var files = 0
        var passed = 0
        var outcomes: [String: Int] = [:]
    }

    private var rows: [String: Row] = [:]
    private var failures: [String] = []
    /// The problems of files that a version of the library decodes wrongly.
    private var known: [String] = []
    /// The number of files by format.
    private var skipped: [String: Int] = [:]

    /// Whether every file had the expected outcome. Files on which other decoders disagree count too.
    var isClean: Bool { failures.isEmpty && !rows.isEmpty }

    /// Adds the outcome of a file.
    ///
    /// - Parameter peer: The library, if a version of it decodes the file wrongly. Problems are then listed, and are no
    ///   failure.
    mutating func add(
        _ path: String, row name: String, outcome: String, _ problems: [String], peer: String? = nil
    ) {
        rows[name, default: Row()].files += 1
        rows[name]?.outcomes[outcome, default: 0] += 1
        if problems.isEmpty {
            rows[name]?.passed += 1
        } else if let peer {
            known.append("\(path), which \(peer) decodes wrongly: \(problems.joined(separator: "; "))")
        } else {
            failures.append("\(path): \(problems.joined(separator: "; "))")
        }
    }

    /// Counts a file of a format without a codec.
    mutating func skip(_ format: String) { skipped[format, default: 0] += 1 }

    var text: String {
        var lines = failures + known
        for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
            let outcomes = row.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            lines.append("\(row.passed)/\(row.files)  \(name)  (\(outcomes.joined(separator: ", ")))")
        }
        for (format, count) in skipped.sorted(by: { $0.key < $1.key }) {
            lines.append("skipped: \(count) files of \(format), whose package trait is not enabled")
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
