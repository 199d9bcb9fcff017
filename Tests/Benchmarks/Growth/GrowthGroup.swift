import AlcedoTesting
import Foundation

/// One or more series that are measured together.
struct GrowthGroup: Sendable {
    let name: String
    /// The sizes to measure, in increasing order.
    let sizes: [Int]
    /// The path of the program that the group needs; nil for none.
    let program: String?
    /// Measures a size in this process. The directory is empty, and is removed later. Returns each series with one
    /// point.
    let measure: @Sendable (_ size: Int, _ directory: URL) async throws -> [GrowthSeries]

    /// Creates a group. By default, the sizes are the powers of ten from 10 to a million, and no program is needed.
    init(
        _ name: String, sizes: [Int] = Self.powers(1...6), program: String? = nil,
        measure: @escaping @Sendable (_ size: Int, _ directory: URL) async throws -> [GrowthSeries]
    ) {
        (self.name, self.sizes, self.program, self.measure) = (name, sizes, program, measure)
    }

    static let all =
        cacheGroups + loadGroups + imageGroups + [
            GrowthGroup("files of a directory", program: tool) { count, directory in
                try await inspectFiles(count, in: directory)
            }
        ]

    /// The path of the program `alcedo` in the directory of this program.
    private static let tool = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "alcedo").path

    static func powers(_ exponents: ClosedRange<Int>) -> [Int] {
        exponents.map { exponent in (0..<exponent).reduce(1) { power, _ in power * 10 } }
    }

    /// Measures the inspection of small files by the program `alcedo`. The time includes its start.
    private static func inspectFiles(_ count: Int, in directory: URL) async throws -> [GrowthSeries] {
        let file = try GrowthImages.smallFile()
        for number in 0..<count { try file.write(to: directory.appending(path: "\(number).png")) }
        let seconds = try await GrowthMeter.bestTime {
            _ = try BenchProcess.output(of: tool, ["inspect", "--quiet", directory.path])
        }
        return [
            .total("files of a directory, alcedo inspect", count, seconds, bytes: GrowthMeter.peakByteCountOfChildren)
        ]
    }
}

extension GrowthSeries {
    /// Returns a series with one point.
    static func total(_ name: String, _ size: Int, _ seconds: Double, bytes: Int) -> Self {
        GrowthSeries(name: name, quantity: .total, points: [Point(size: size, seconds: seconds, bytes: bytes)])
    }

    /// Returns a series with one point.
    static func lookup(_ name: String, _ size: Int, _ seconds: Double, bytes: Int) -> Self {
        GrowthSeries(name: name, quantity: .lookup, points: [Point(size: size, seconds: seconds, bytes: bytes)])
    }
}

/// Repeats measurements. The best counts, because other programs only add to a time.
enum GrowthMeter {
    /// The time of the repetitions, of which there are at least three, unless the first takes longer.
    private static let span = Duration.milliseconds(200)
    private static let rounds = 3...100

    /// Returns the least time of several calls, in seconds.
    static func bestTime(of work: () async throws -> Void) async rethrows -> Double {
        try await best { try await ContinuousClock().measure { try await work() } }
    }

    /// Returns the least of the durations that several calls return, in seconds, and the growth of resident memory
    /// during the first call. Later calls reuse freed memory.
    static func bestWithMemory(_ work: () async throws -> Duration) async rethrows -> (seconds: Double, bytes: Int) {
        let (first, bytes) = try await ResidentMemory.suspendingGrowth(during: work)
        return (try await best(after: first, work), bytes)
    }

    /// Returns the least of the durations that several calls return, in seconds.
    ///
    /// - Parameters:
    ///   - first: The duration that the first call has returned; nil if there was none. Default: nil.
    ///   - work: The call.
    static func best(after first: Duration? = nil, _ work: () async throws -> Duration) async rethrows -> Double {
        let start = ContinuousClock.now - (first ?? .zero)
        var best: Duration
        if let first { best = first } else { best = try await work() }
        var count = 1
        while isUnfinished(count, since: start) {
            best = min(best, try await work())
            count += 1
        }
        return best / .seconds(1)
    }

    private static func isUnfinished(_ count: Int, since start: ContinuousClock.Instant) -> Bool {
        let elapsed = ContinuousClock.now - start
        return elapsed < span && count < rounds.upperBound || elapsed < span * 5 && count < rounds.lowerBound
    }

    /// The maximum number of resident bytes of a child process that has ended, and at least those that this process had
    /// when it started the child.
    static var peakByteCountOfChildren: Int {
        var usage = rusage()
        // `RUSAGE_CHILDREN`, which Glibc declares with another type than the function's parameter.
        getrusage(-1, &usage)
        return usage.ru_maxrss << 10
    }
}
