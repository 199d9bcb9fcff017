import AlcedoCore
import AlcedoMemoryCache
import AlcedoProgramSupport
import AlcedoRuntime
import Dispatch
import Foundation

/// Measures hits, misses and stores that evict, alternately for the package's caches, for `NSCache` and for a
/// dictionary under a lock.
struct MemoryCacheBenchmark {
    /// The value of an entry. It is an object, because images hold their pixels in an object.
    private final class Payload: Sendable {}

    /// A key of `NSCache`, which needs an object. Its hash is precomputed, like that of ``ImageKey``.
    private final class Key: NSObject {
        let key: ImageKey

        init(_ key: ImageKey) { self.key = key }

        override var hash: Int { key.hashValue }
        override func isEqual(_ object: Any?) -> Bool { (object as? Key)?.key == key }
    }

    /// The time to live of all entries. It is the same for all, so that only the reading of the clock differs.
    private static let timeToLive = Duration.seconds(3600)

    private enum Operation: String, CaseIterable {
        case hit
        case sameOrder = "hit, all threads in the same order"
        case miss
        case put = "put that evicts"
    }

    /// The number of measurements, of which the best counts.
    private static let rounds = 3
    private static let blockSize = 1000

    let threads: [Int]
    let counts: [Int]
    /// The approximate number of operations of one measurement.
    let operations: Int

    /// Prints a table for each kind of operation: nanoseconds for one operation of one thread.
    func run() {
        for operation in Operation.allCases {
            let threads = threads.filter { $0 > 1 || operation != .sameOrder }
            if threads.isEmpty { continue }
            Console.output(
                "\(operation.rawValue), nanoseconds per operation (all threads together: operations per microsecond)\n")
            Console.output(
                Self.row("entries", "threads", ["adaptive", "adaptive, TTL", "lru", "dictionary", "NSCache"]))
            for count in counts {
                for threads in threads { Console.output(measure(operation, count: count, threads: threads)) }
            }
            Console.output("\n")
        }
    }

    private func measure(_ operation: Operation, count: Int, threads: Int) -> String {
        let present = (0..<count).map { ImageKey(ResourceKey("https://images.example.org/album/\($0)/large.jpg")) }
        let absent = (0..<count).map { ImageKey(ResourceKey("https://images.example.org/album/\($0)/small.jpg")) }
        // The order of the keys is random, so that the processor cannot prefetch the entries. The keys themselves are
        // read sequentially.
        let keys = (operation == .hit || operation == .sameOrder ? present : absent).shuffled()
        let payload = Payload()
        let subjects = [
            packageCache(.adaptive, operation, present, keys, payload),
            packageCache(.adaptive, operation, present, keys, payload, timeToLive: Self.timeToLive),
            packageCache(.lru, operation, present, keys, payload), dictionary(operation, present, keys, payload),
            foundation(operation, present, keys, payload),
        ]
        var best = Array(repeating: Double.infinity, count: subjects.count)
        for _ in 0..<Self.rounds {
            for (index, subject) in subjects.enumerated() {
                best[index] = min(
                    best[index], time(keys.count, threads: threads, isShared: operation == .sameOrder, subject))
            }
        }
        if operation == .hit, threads == 1, count == counts.min(), count < 100_000 {
            BenchFigure("memory cache hit", best[0], unit: " ns", .atMost(60)).record()
            BenchFigure("memory cache hit: speed relative to NSCache", best[subjects.count - 1] / best[0], .atLeast(8))
                .record()
        }
        if operation == .hit, threads == 1, count == 100_000 {
            // The dictionary keeps no order of uses and counts nothing, but its lock is of the same kind.
            BenchFigure("memory cache hit among 100,000: time relative to a dictionary", best[0] / best[3], .atMost(1))
                .record()
        }
        let cells = best.map { nanoseconds in
            let rate = Double(threads) * 1000 / nanoseconds
            return threads == 1
                ? "\(Self.rounded(nanoseconds))" : "\(Self.rounded(nanoseconds)) (\(Self.rounded(rate)))"
        }
        return Self.row("\(count)", "\(threads)", cells)
    }

    /// The number of operations of one pass, and their time.
    private struct Pass {
        var count = 0
        var time = Duration.zero

        init(count: Int, time: Duration) { (self.count, self.time) = (count, time) }

        /// Measures the whole of `body`, which returns the number of its operations.
        init(_ body: () -> Int) { time = ContinuousClock().measure { count = body() } }
    }

    /// A function that performs one pass over some of the keys.
    private typealias Subject = (Range<Int>) -> Pass

    private func packageCache(
        _ policy: PolicyName, _ operation: Operation, _ present: [ImageKey], _ keys: [ImageKey], _ payload: Payload,
        timeToLive: Duration? = nil
    ) -> Subject {
        let cache: MemoryCache<ImageKey, Payload> = policy.cache(costLimit: present.count, timeToLive: timeToLive)
        for key in present { cache.store(Payload(), for: key, cost: 1) }
        guard operation == .put else { return { range in Self.reads(range, keys) { cache.value(for: $0) != nil } } }
        return Self.writes(present, keys) { cache.store(payload, for: $0, cost: 1) }
    }

    private func dictionary(
        _ operation: Operation, _ present: [ImageKey], _ keys: [ImageKey], _ payload: Payload
    ) -> Subject {
        let lock = Locked(Dictionary(uniqueKeysWithValues: present.map { ($0, Payload()) }))
        guard operation == .put else {
            return { range in Self.reads(range, keys) { key in lock.withLock { $0[key] != nil } } }
        }
        // A dictionary has no eviction order, so each key replaces the present key of the same index.
        return { range in
            Pass {
                for index in range {
                    lock.withLock { dictionary in
                        dictionary[present[index]] = nil
                        dictionary[keys[index]] = payload
                        dictionary[keys[index]] = nil
                        dictionary[present[index]] = payload
                    }
                }
                return range.count * 2
            }
        }
    }

    private func foundation(
        _ operation: Operation, _ present: [ImageKey], _ keys: [ImageKey], _ payload: Payload
    ) -> Subject {
        // NSCache is thread-safe, but it is not declared Sendable.
        nonisolated(unsafe) let cache = NSCache<Key, Payload>()
        // An insertion iterates over all entries of a lower cost. With equal costs there are none.
        cache.countLimit = present.count
        for key in present { cache.setObject(Payload(), forKey: Key(key), cost: 1) }
        let objects = keys.map(Key.init)
        guard operation == .put else {
            return { range in Self.reads(range, objects) { cache.object(forKey: $0) != nil } }
        }
        return { range in
            Pass {
                for index in range { cache.setObject(payload, forKey: objects[index], cost: 1) }
                return range.count
            }
        }
    }

    /// Looks up keys block by block. Each block is copied first, so that the measurement does not include the cache
    /// misses of reading a million keys.
    private static func reads<Key>(_ range: Range<Int>, _ keys: [Key], _ read: (Key) -> Bool) -> Pass {
        var found = 0
        var time = Duration.zero
        let clock = ContinuousClock()
        for start in stride(from: range.lowerBound, to: range.upperBound, by: blockSize) {
            let block = Array(keys[start..<min(start + blockSize, range.upperBound)])
            let begin = clock.now
            block.withUnsafeBufferPointer { block in
                for index in block.indices where read(block[index]) { found += 1 }
            }
            time += clock.now - begin
        }
        // The result is used, so that the optimizer does not remove the loop.
        precondition(found == 0 || found == range.count)
        return Pass(count: range.count, time: time)
    }

    /// Stores absent and present keys alternately, so that no pass finds its keys.
    private static func writes(
        _ present: [ImageKey], _ keys: [ImageKey], _ write: @escaping (ImageKey) -> Void
    ) -> Subject {
        { range in
            Pass {
                for index in range { write(keys[index]) }
                for index in range { write(present[index]) }
                return range.count * 2
            }
        }
    }

    /// Returns the mean nanoseconds per operation.
    ///
    /// - Parameter isShared: Whether each thread uses all keys. If false, each thread has its own part.
    private func time(_ count: Int, threads: Int, isShared: Bool, _ subject: Subject) -> Double {
        let passes = max(1, operations / count / threads)
        // The function accesses shared state only through the caches.
        nonisolated(unsafe) let subject = subject
        let results = Locked<[Double]>([])
        let share = count / threads
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let range = isShared ? 0..<count : thread * share..<(thread + 1) * share
            let measured = (0..<passes).map { _ in subject(range) }
            let (seconds, attoseconds) = measured.reduce(.zero) { $0 + $1.time }.components
            let count = measured.reduce(0) { $0 + $1.count }
            results.withLock { $0.append((Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count)) }
        }
        return results.withLock { $0.reduce(0, +) / Double($0.count) }
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    private static func row(_ count: String, _ threads: String, _ cells: [String]) -> String {
        let columns = [count, threads] + cells
        return columns.map { $0 + String(repeating: " ", count: max(1, 16 - $0.count)) }.joined() + "\n"
    }
}

/// The eviction policies that the benchmark knows.
enum PolicyName: String, CaseIterable {
    case adaptive
    case lru
    case fifo
    case purge

    /// Returns a cache with this policy. Purging reduces the cost to six tenths of the limit.
    func cache<Key, Value>(costLimit: Int, timeToLive: Duration? = nil) -> MemoryCache<Key, Value> {
        let limits = MemoryCacheLimits(costLimit: costLimit, timeToLive: timeToLive)
        return switch self {
        case .adaptive: MemoryCache(limits: limits, policy: .adaptive)
        case .lru: MemoryCache(limits: limits, policy: .lru)
        case .fifo: MemoryCache(limits: limits, policy: .fifo)
        case .purge: MemoryCache(limits: limits, policy: .purging(toPreferredCost: costLimit / 10 * 6))
        }
    }
}
