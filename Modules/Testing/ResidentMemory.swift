import FoundationEssentials

/// The resident memory of the process. Source: proc(5), `VmRSS`, `VmHWM` and `clear_refs`.
package enum ResidentMemory {
    /// The number of resident bytes; zero if the system does not report it.
    package static var byteCount: Int { value("VmRSS:") }

    /// The maximum number of resident bytes since the process started or ``growth(during:)`` last reset it; zero if the
    /// system does not report it.
    package static var peakByteCount: Int { value("VmHWM:") }

    /// Returns the result of `body` and the maximum growth of resident memory, in bytes, while it ran. All threads
    /// count.
    ///
    /// Pages that were freed earlier but not returned to the system are reused without growth. A nested or concurrent
    /// call resets the peak, so growth before it can be missed. If the system does not allow a reset, an earlier peak
    /// counts.
    package static func growth<Result>(during body: () throws -> Result) rethrows -> (result: Result, bytes: Int) {
        let before = resetPeak()
        let result = try body()
        return (result, max(0, peakByteCount - before))
    }

    /// Returns the result of `body`, which may suspend, and the maximum growth, as ``growth(during:)`` does.
    package static func suspendingGrowth<Result>(
        during body: () async throws -> Result
    ) async rethrows -> (result: Result, bytes: Int) {
        let before = resetPeak()
        let result = try await body()
        return (result, max(0, peakByteCount - before))
    }

    /// Resets the peak. Returns the number of resident bytes.
    private static func resetPeak() -> Int {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return byteCount
    }

    private static func value(_ name: String) -> Int {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "")
        else { return 0 }
        return kibibytes << 10
    }
}
