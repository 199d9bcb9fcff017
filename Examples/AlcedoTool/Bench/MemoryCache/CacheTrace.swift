import ExampleSupport
import FoundationEssentials

/// Requests in the order in which they came: which key, and how large.
struct CacheTrace {
    struct Request {
        /// Keys are numbered in the order in which they first come.
        var key: Int
        var size: Int
    }

    private(set) var requests: [Request] = []
    /// Sum over all keys of the largest size that a key was asked for with.
    private(set) var footprint = 0

    /// Reads lines of `time,key,size`. A first line whose size is no number is a heading; a line without a size has 1.
    ///
    /// - Throws: ``UsageError`` that names the first line that is neither.
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
                throw UsageError("line \(number) of the trace is not time,key,size")
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
