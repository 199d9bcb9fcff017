import Foundation
import Testing

/// Returns the peak memory of the process in bytes.
func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
}

/// Returns the bytes by which the process grows at most while `body` runs.
func memoryGrowth(during body: () throws -> Void) throws -> Int {
    // Source: proc(5). Resets the peak, so that earlier memory does not count.
    let control = try #require(FileHandle(forWritingAtPath: "/proc/self/clear_refs"))
    try control.write(contentsOf: Data("5".utf8))
    try control.close()
    let before = try peakMemory()
    try body()
    return try peakMemory() - before
}
