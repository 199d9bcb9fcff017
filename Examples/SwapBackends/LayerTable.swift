import Alcedo

/// What each layer did in each run, one line a run.
struct LayerTable {
    private static let heads = ["", "memory", "disk", "responses", "network", "bytes fetched", "decoded"]

    private var lines = [heads]

    /// - Parameters:
    ///   - metrics: What was counted in the run alone.
    ///   - stack: Tells which layers there are.
    mutating func append(_ run: String, _ metrics: SwitchedMetrics, of stack: CacheStack) {
        let (counts, servers, responses) = (metrics.snapshot, metrics.servers.counts, metrics.responses.counts)
        let memoryMisses = counts.memoryMisses.values.reduce(0, +)
        let diskMisses = counts.diskMisses.values.reduce(0, +)
        lines.append([
            run,
            stack == .responses ? "-" : Self.part(counts.memoryHits, of: counts.memoryHits + memoryMisses),
            stack == .files || stack == .sqlite ? Self.part(counts.diskHits, of: counts.diskHits + diskMisses) : "-",
            stack == .responses ? Self.part(responses.stored, of: responses.asked) : "-",
            "\(servers.answered)",
            "\(servers.byteCount)",
            "\(counts.decodingTimes.count)",
        ])
    }

    var text: String {
        let widths = Self.heads.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let cells = zip(line, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    private static func part(_ hits: Int, of all: Int) -> String { all == 0 ? "not asked" : "\(hits) of \(all)" }
}
