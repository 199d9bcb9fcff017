import FoundationEssentials

/// The memory that the process has resident. Source: proc(5), `VmHWM` and `clear_refs`.
package enum ResidentMemory {
    /// Bytes that are resident now; zero where the system does not report it.
    package static var byteCount: Int { value("VmRSS:") }

    /// Most bytes that have been resident, since the program began or ``growth(during:)`` was last asked.
    package static var peakByteCount: Int { value("VmHWM:") }

    /// Returns what `body` returns, and the bytes by which residence rose at most while it ran, in all threads. Pages
    /// that were freed before and not given back to the system are used again without a rise.
    package static func growth<Result>(during body: () throws -> Result) rethrows -> (result: Result, bytes: Int) {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = byteCount
        let result = try body()
        return (result, max(0, peakByteCount - before))
    }

    private static func value(_ name: String) -> Int {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "")
        else { return 0 }
        return kibibytes << 10
    }
}
