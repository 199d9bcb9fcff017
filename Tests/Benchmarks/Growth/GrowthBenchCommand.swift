import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench growth`
struct GrowthBenchCommand: ProgramCommand {
    static let name = "growth"
    static let help = """
        usage: alcedo-bench growth [options]

        Measures how time and memory grow with n, for n = 10, 100, and so on up to a million, of: entries and bytes of
        the caches, requests in flight, waiters for one image, hosts, frames of an animation, files of a directory,
        pixels of an image, processors in a chain, and variants of one URL in the response cache. Each n is measured in
        a process of its own. A series ends before an n that is expected to take more than the time limit, or more than
        a quarter of the machine's memory.

        The table has a row for each series: the least and the greatest n; the time of one operation at both; the
        exponent of the growth by least squares of the logarithms, of the total time or of the time of one look-up; the
        exponent from the last n but one to the last; the memory at the greatest n; and the memory of each further item.
        A total above 1.15 and a look-up above 0.15 are marked.

        The files of a directory are inspected by the program alcedo, which must be in the directory of this program;
        without it, they are not measured.

          --directory DIR  put files in DIR, which is created if needed; they are removed (default: the temporary
                           directory)
          --maximum N      measure no n above N (default: no limit but that of each series)
          --limit SECONDS  the time limit of one n (default: 20)
          --only TEXT      measure only series whose group contains TEXT, such as 'memory cache'; may be repeated
          --markdown       print only the table
          --svg FILE       draw the times as SVG
          --force          replace an existing FILE

        """

    private var directory = FileManager.default.temporaryDirectory
    private var maximum = Int.max
    private var limit = Duration.seconds(20)
    private var filters: [String] = []
    private var isMarkdown = false
    private var plot: String?
    private var replaces = false
    /// The time and the memory of a process that has measured a size.
    typealias Step = (size: Int, time: Duration, bytes: Int)

    /// The increase of the time that may be chance.
    private static let noise = Duration.milliseconds(50)

    /// The group and the size to measure in this process; nil in the process that starts the others.
    private var group: String?
    private var size: Int?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--directory": directory = URL(filePath: try arguments.value(of: option))
        case "--maximum": maximum = try arguments.number(of: option, in: 10...1_000_000_000)
        case "--limit": limit = try arguments.seconds(of: option)
        case "--only": filters.append(try arguments.value(of: option))
        case "--markdown": isMarkdown = true
        case "--svg": plot = try arguments.value(of: option)
        case "--force": replaces = true
        // The options of the processes that measure.
        case "--group": group = try arguments.value(of: option)
        case "--size": size = try arguments.number(of: option, in: 1...1_000_000_000)
        default: return false
        }
        return true
    }

    func run() async throws -> ExitStatus {
        if let group, let size {
            try await measure(group, size)
            return .success
        }
        let groups = GrowthGroup.all.filter { group in filters.isEmpty || filters.contains(where: group.name.contains) }
        guard !groups.isEmpty else {
            let names = GrowthGroup.all.map(\.name).joined(separator: ", ")
            throw UsageError("no group has this name; available: \(names)")
        }
        let output = plot.map { OutputDirectory.split($0) }
        let location = output.map { OutputDirectory($0.directory, replaces: replaces, sparing: []) }
        if let output { try location?.prepare(for: [output.name]) }
        let series = try groups.flatMap { try measure($0) }
        for one in series { one.figure?.record() }
        if !isMarkdown { Console.output("\n") }
        Console.output(GrowthTable(series: series).markdown)
        if let output { try location?.write(Data(GrowthPlot(series: series).svg.utf8), named: output.name) }
        return .success
    }

    /// Measures one size in this process, and prints each series as a line of JSON.
    private func measure(_ name: String, _ size: Int) async throws {
        guard let group = GrowthGroup.all.first(where: { $0.name == name }) else {
            throw UsageError("no group has the name '\(name)'")
        }
        let scratch = try BenchDirectory(in: directory)
        defer { scratch.remove() }
        let encoder = JSONEncoder()
        for series in try await group.measure(size, scratch.url) {
            Console.output(String(decoding: try encoder.encode(series), as: UTF8.self) + "\n")
        }
    }

    /// Measures a group for all its sizes, each in a process of its own, until the next one would exceed the limit.
    private func measure(_ group: GrowthGroup) throws -> [GrowthSeries] {
        if let needed = group.program, !FileManager.default.isExecutableFile(atPath: needed) {
            Console.notice("alcedo-bench: \(needed) does not exist; the \(group.name) are not measured")
            return []
        }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        // A cache may write to its directory until its process has ended.
        let scratch = try BenchDirectory(in: directory)
        defer { scratch.remove() }
        var all: [GrowthSeries] = []
        var past: [Step] = []
        for size in group.sizes where size <= maximum {
            let isTooLong = Self.expectedTime(size, after: past) > limit
            // The memory of other programs is not known, so the limit is a quarter of the whole.
            let memory = Double(ProcessInfo.processInfo.physicalMemory / 4)
            if isTooLong || Self.expectedByteCount(size, after: past) > memory {
                let reason = isTooLong ? "above the time limit" : "above the memory limit"
                if !isMarkdown { Console.output("\(group.name), n = \(size): not measured, \(reason)\n") }
                break
            }
            var output = ""
            let time = try ContinuousClock().measure {
                output = try BenchProcess.output(
                    of: program,
                    [Self.name, "--group", group.name, "--size", "\(size)", "--directory", scratch.url.path])
            }
            let measured = try output.split(separator: "\n").map {
                try JSONDecoder().decode(GrowthSeries.self, from: Data($0.utf8))
            }
            past.append((size, time, measured.flatMap(\.points).map(\.bytes).max() ?? 0))
            for found in measured {
                if let index = all.firstIndex(where: { $0.name == found.name }) {
                    all[index].points += found.points
                } else {
                    all.append(found)
                }
                if !isMarkdown { report(found) }
            }
        }
        return all
    }

    private func report(_ series: GrowthSeries) {
        for point in series.points {
            Console.output(
                "\(series.name), n = \(point.size): \(GrowthTable.time(series.secondsOfOne(point))), "
                    + "\(GrowthTable.memory(Double(point.bytes)))\n")
        }
    }

    /// Returns the expected time for a size, which is constant for one earlier size. With more of them, the last
    /// increase of the time is multiplied by the growth of the size, or by the growth of the increase if it is larger
    /// and not noise.
    static func expectedTime(_ size: Int, after past: [Step]) -> Duration {
        guard let last = past.last else { return .zero }
        guard past.count > 1 else { return last.time }
        let before = past[past.count - 2]
        var factor = Double(size) / Double(last.size)
        if past.count > 2 {
            let earlierIncrease = before.time - past[past.count - 3].time
            if earlierIncrease > noise { factor = max(factor, (last.time - before.time) / earlierIncrease) }
        }
        return last.time + max(.zero, last.time - before.time) * factor
    }

    /// Returns the expected memory for a size, in bytes, as ``expectedTime(_:after:)`` does for linear growth.
    static func expectedByteCount(_ size: Int, after past: [Step]) -> Double {
        guard let last = past.last else { return 0 }
        return Double(last.bytes) * Double(size) / Double(last.size)
    }
}
