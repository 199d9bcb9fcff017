import Foundation
import Testing

/// Most bytes of memory that the process has had.
func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
}

/// Whether the address sanitizer is at work: it keeps what was freed, so that small amounts of memory say nothing.
let keepsFreedMemory = dlsym(nil, "__asan_init") != nil
