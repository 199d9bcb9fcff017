import Alcedo
import AlcedoProgramSupport
import Foundation

/// `alcedo-bench memory-cache`
struct MemoryCacheBenchCommand: ProgramCommand {
    static let name = "memory-cache"
    static let help = """
        usage: alcedo-bench memory-cache [--entries N] [--threads N] [--operations N]
               alcedo-bench memory-cache --trace FILE --capacity N [--policy P|all]

        Without a trace, measures hits, misses and puts that evict, in nanoseconds, against NSCache and a dictionary
        under a lock, with one and two threads, and with a thousand to a million entries.

        With a trace, replays lines of time,key,size and prints the share of the requests and of their bytes that each
        policy finds in the cache.

          --entries N     measure only N entries (default: 1000 to 1000000)
          --threads N     measure only N threads (default: 1 and 2)
          --operations N  measure about N operations at a time (default: 1000000)
          --trace FILE    read the trace from FILE, or from standard input for -
          --capacity N    limit the cache to N in the unit of the trace, or to a share of its footprint, such as 10%;
                          may be repeated
          --policy P      use adaptive, lru, fifo, purge or all (default: all)

        """

    private enum Capacity {
        case cost(Int)
        case percent(Double)
    }

    /// The maximum number of bytes of a trace.
    private static let traceLimit = 4 << 30

    private var trace: String?
    private var capacities: [Capacity] = []
    private var policies = PolicyName.allCases
    private var counts = [1_000, 10_000, 100_000, 1_000_000]
    private var threads = [1, 2]
    private var operations = 1_000_000

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--entries": counts = [try arguments.number(of: option, in: 2...100_000_000)]
        case "--threads": threads = [try arguments.number(of: option, in: 1...64)]
        case "--operations": operations = try arguments.number(of: option, in: 1...1_000_000_000)
        case "--trace": trace = try arguments.value(of: option)
        case "--capacity": capacities.append(try Self.capacity(try arguments.value(of: option)))
        case "--policy": policies = try Self.policies(try arguments.value(of: option))
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        try Self.rejectWords(words)
        guard (trace == nil) == capacities.isEmpty else { throw UsageError("--trace and --capacity need each other") }
    }

    func run() throws -> ExitStatus {
        if let trace {
            replay(try CacheTrace(try InputFile.read(trace, limit: Self.traceLimit)))
        } else {
            MemoryCacheBenchmark(threads: threads, counts: counts, operations: operations).run()
        }
        return .success
    }

    private func replay(_ trace: CacheTrace) {
        Console.output("\(trace.requests.count) requests, footprint \(trace.footprint)\n")
        for capacity in capacities {
            let cost =
                switch capacity {
                case .cost(let cost): cost
                case .percent(let percent): Int(Double(trace.footprint) * percent / 100)
                }
            for policy in policies {
                let replay = TraceReplay(trace, policy: policy, capacity: cost)
                Console.output(
                    "\(cost) \(policy.rawValue) \(Self.percent(replay.objectHits)) \(Self.percent(replay.byteHits))\n")
            }
        }
    }

    private static func percent(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    private static func capacity(_ word: String) throws -> Capacity {
        if word.hasSuffix("%"), let percent = Double(word.dropLast()), percent > 0, percent <= 100 {
            return .percent(percent)
        }
        guard let cost = Int(word), cost > 0 else { throw UsageError("invalid capacity '\(word)'") }
        return .cost(cost)
    }

    private static func policies(_ word: String) throws -> [PolicyName] {
        if word == "all" { return PolicyName.allCases }
        guard let policy = PolicyName(rawValue: word) else { throw UsageError("unknown policy '\(word)'") }
        return [policy]
    }
}
