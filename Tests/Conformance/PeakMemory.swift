import FoundationEssentials

/// The most memory that the process had resident while something ran. Source: proc(5), `VmHWM` and `clear_refs`.
enum PeakMemory {
    /// Returns what `body` returns, and the bytes by which residence rose at most.
    static func measure<Result>(_ body: () -> Result) -> (Result, growth: Int) {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = value("VmRSS:")
        let result = body()
        return (result, max(0, value("VmHWM:") - before))
    }

    private static func value(_ name: String) -> Int {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "")
        else { return 0 }
        return kibibytes << 10
    }
}
