import Foundation

/// How much of the processors' time went to other machines of the same host: what a virtual machine measures then says less.
struct StolenTime {
    private let begin = Self.ticks

    /// From when this was made; nil where the system does not say.
    var share: Double? {
        guard let begin, let now = Self.ticks, now.all > begin.all else { return nil }
        return Double(now.stolen - begin.stolen) / Double(now.all - begin.all)
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)); what follows is in the
    /// first two already.
    private static var ticks: (stolen: Int, all: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let line = text.split(separator: "\n").first
        else { return nil }
        let numbers = line.split(separator: " ").dropFirst().prefix(8).compactMap { Int($0) }
        return numbers.count == 8 ? (numbers[7], numbers.reduce(0, +)) : nil
    }
}
