import AlcedoCore
import AlcedoMemoryCache
import AlcedoProgramSupport
import AlcedoRuntime
import Dispatch
import Foundation

/// Times hits, misses and stores that evict, of our caches, of `NSCache` and of a plain dictionary under a lock, in turns.
struct MemoryCacheBenchmark {
    /// What a cache holds here: an object, as images hold their pixels by one.
    private final class Payload: Sendable {}

    /// `NSCache` wants an object; its hash is ready, as that of our keys is.
    private final class Key: NSObject {
        let key: ImageKey

        init(_ key: ImageKey) { self.key = key }

        override var hash: Int { key.hashValue }
        override func isEqual(_ object: Any?) -> Bool { (object as? Key)?.key == key }
    }

    /// The same throughout, so that only the reading of the clock differs.
    private static let timeToLive = Duration.seconds(3600)

    private enum Operation: String, CaseIterable {
        case hit
        case sameOrder = "hit, all threads in the same order"
        case miss
        case put = "put that evicts"
    }

    /// How many measurements are taken; the best counts.
    private static let rounds = 3
    private static let blockSize = 1000

    let threads: [Int]
    let counts: [Int]
    /// About how many operations one measurement takes.
    let operations: Int

    /// Prints a table for each kind of operation: nanoseconds for one operation of one thread.
    func run() {
        for operation in Operation.allCases {
            let threads = threads.filter { $0 > 1 || operation != .sameOrder }
            if threads.isEmpty { continue }
            Console.output(
                "\(operation.rawValue), nanoseconds an operation (all threads together: operations a microsecond)\n")
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
        // In an order that no cache of the processor foresees, but read one after another.
        let keys = (operation == .hit || operation == .sameOrder ? present : absent).shuffled()
        let payload = Payload()
        let subjects = [
            ours(.adaptive, operation, present, keys, payload),
            ours(.adaptive, operation, present, keys, payload, timeToLive: Self.timeToLive),
            ours(.lru, operation, present, keys, payload), dictionary(operation, present, keys, payload),
            foundation(operation, present, keys, payload),
        ]
        var best = Array(repeating: Double.infinity, count: subjects.count)
        for _ in 0..<Self.rounds {
            for (index, subject) in subjects.enumerated() {
                best[index] = min(
                    best[index], time(keys.count, threads: threads, isShared: operation == .sameOrder, subject))
            }
        }
        if operation == .hit, threads == 1, count == counts.min() {
            BenchFigure("a hit in the memory cache", best[0], unit: " ns", .atMost(60)).record()
            BenchFigure("the same, over NSCache", best[subjects.count - 1] / best[0], .atLeast(8)).record()
        }
        let cells = best.map { nanoseconds in
            let rate = Double(threads) * 1000 / nanoseconds
            return threads == 1
                ? "\(Self.rounded(nanoseconds))" : "\(Self.rounded(nanoseconds)) (\(Self.rounded(rate)))"
        }
        return Self.row("\(count)", "\(threads)", cells)
    }

    private struct Done {
        var count = 0
        var time = Duration.zero

        init(count: Int, time: Duration) { (self.count, self.time) = (count, time) }

        /// Times all of `body`, which says how many operations it did.
        init(_ body: () -> Int) { time = ContinuousClock().measure { count = body() } }
    }

    /// One pass over some of the keys.
    private typealias Subject = (Range<Int>) -> Done

    private func ours(
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
        // A plain dictionary knows no order: what goes is the entry that stood where the key is put.
        return { range in
            Done {
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
        // NSCache locks itself; it is only not declared Sendable.
        nonisolated(unsafe) let cache = NSCache<Key, Payload>()
        // Its insertion looks through all entries that cost less: with one cost for all that is none.
        cache.countLimit = present.count
        for key in present { cache.setObject(Payload(), forKey: Key(key), cost: 1) }
        let objects = keys.map(Key.init)
        guard operation == .put else {
            return { range in Self.reads(range, objects) { cache.object(forKey: $0) != nil } }
        }
        return { range in
            Done {
                for index in range { cache.setObject(payload, forKey: objects[index], cost: 1) }
                return range.count
            }
        }
    }

    /// Looks keys up by the block, each block copied first: what is timed is the cache, not the fetching of a million keys.
    private static func reads<Key>(_ range: Range<Int>, _ keys: [Key], _ read: (Key) -> Bool) -> Done {
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
        // Used, so that the loop is not left out.
        precondition(found == 0 || found == range.count)
        return Done(count: range.count, time: time)
    }

    /// Absent and present keys in turns, so that each pass finds none of its keys.
    private static func writes(
        _ present: [ImageKey], _ keys: [ImageKey], _ write: @escaping (ImageKey) -> Void
    ) -> Subject {
        { range in
            Done {
                for index in range { write(keys[index]) }
                for index in range { write(present[index]) }
                return range.count * 2
            }
        }
    }

    /// - Parameter isShared: Whether all threads go over all keys; else each has its own part.
    private func time(_ count: Int, threads: Int, isShared: Bool, _ subject: Subject) -> Double {
        let passes = max(1, operations / count / threads)
        // It touches what is shared only through the caches.
        nonisolated(unsafe) let subject = subject
        let results = Locked<[Double]>([])
        let share = count / threads
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let range = isShared ? 0..<count : thread * share..<(thread + 1) * share
            let done = (0..<passes).map { _ in subject(range) }
            let (seconds, attoseconds) = done.reduce(.zero) { $0 + $1.time }.components
            let count = done.reduce(0) { $0 + $1.count }
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
    case sieve
    case s3FIFO = "s3-fifo"
    case wTinyLFU = "w-tinylfu"
    case gdsf
    case purge

    /// A cache with this policy. Purging goes down to six tenths of the limit.
    func cache<Key, Value>(costLimit: Int, timeToLive: Duration? = nil) -> MemoryCache<Key, Value> {
        let limits = MemoryCacheLimits(costLimit: costLimit, timeToLive: timeToLive)
        return switch self {
        case .adaptive: MemoryCache(limits: limits, policy: .adaptive)
        case .lru: MemoryCache(limits: limits, policy: .lru)
        case .fifo: MemoryCache(limits: limits, policy: .fifo)
        case .sieve: MemoryCache(limits: limits, policy: .sieve)
        case .s3FIFO: MemoryCache(limits: limits, policy: .s3FIFO)
        case .wTinyLFU: MemoryCache(limits: limits, policy: .wTinyLFU)
        case .gdsf: MemoryCache(limits: limits, policy: .gdsf)
        case .purge: MemoryCache(limits: limits, policy: .purging(toPreferredCost: costLimit / 10 * 6))
        }
    }
}
