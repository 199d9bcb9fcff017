import AlcedoMemoryCache
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials

/// Replays a trace on a memory cache. Each miss is stored with the size of its request.
struct TraceReplay {
    /// A key with the same hash in every process, so that results of a replay are reproducible.
    private struct Key: Hashable {
        let number: Int

        var hashValue: Int {
            var random = SplitMix64(seed: UInt64(truncatingIfNeeded: number))
            return Int(truncatingIfNeeded: random.next())
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hashValue) }
    }

    /// The percentage of requests that were hits.
    private(set) var objectHits = 0.0
    /// The percentage of requested bytes that were hits.
    private(set) var byteHits = 0.0

    init(_ trace: CacheTrace, policy: PolicyName, capacity: Int) {
        let cache: MemoryCache<Key, Void> = policy.cache(costLimit: capacity)
        var (hits, hitBytes, bytes) = (0, 0.0, 0.0)
        for request in trace.requests {
            let key = Key(number: request.key)
            bytes += Double(request.size)
            if cache.value(for: key) != nil {
                hits += 1
                hitBytes += Double(request.size)
            } else {
                cache.store((), for: key, cost: request.size)
            }
        }
        objectHits = 100 * Double(hits) / Double(max(1, trace.requests.count))
        byteHits = bytes > 0 ? 100 * hitBytes / bytes : 0
    }
}

/// The requests of a trace, in order, each with its key and size.
struct CacheTrace {
    struct Request {
        /// The number of the key. Keys are numbered in the order of their first request.
        var key: Int
        var size: Int
    }

    private(set) var requests: [Request] = []
    /// The sum over all keys of the largest size of a request for the key.
    private(set) var footprint = 0

    /// Reads lines of `time,key,size`. A first line whose size is not a number is a header. A line without a size has
    /// the size 1.
    ///
    /// - Throws: ``UsageError`` that names the first invalid line.
    init(_ text: some Collection<UInt8>) throws {
        var keys: [ArraySlice<UInt8>: Int] = [:]
        var largest: [Int] = []
        var number = 0
        for line in Array(text).split(separator: UInt8(ascii: "\n")) {
            number += 1
            let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            let size = fields.count < 3 ? 1 : Int(String(decoding: fields[2], as: UTF8.self).filter { $0 != "\r" })
            guard fields.count >= 2, let size, size >= 0 else {
                if number == 1 { continue }
                throw UsageError("line \(number) of the trace does not have the form time,key,size")
            }
            let key = keys[fields[1]] ?? keys.count
            if key == keys.count {
                keys[fields[1]] = key
                largest.append(0)
            }
            largest[key] = max(largest[key], size)
            requests.append(Request(key: key, size: size))
        }
        footprint = largest.reduce(0, +)
    }
}
