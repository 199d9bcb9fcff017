import TestSupport
import AlcedoCore
import AlcedoDiskCache
import FoundationEssentials
import Glibc
import Testing

@Suite(.timeLimit(.minutes(3)))
struct KilledWriterTests {
    @Test func `what a writer reported stored survives its death at any instant, and nothing is torn`() async throws {
        var storedCount = 0
        for _ in 0..<5 {
            let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
                let directory = FileManager.default.temporaryDirectory.appending(path: "alcedo-\(UUID().uuidString)")
                Self.say("directory \(directory.path)")
                let cache = FileDiskCache(directory: directory)
                let fuse = Int.random(in: 1...150)
                await withTaskGroup(of: Void.self) { group in
                    for writer in 0..<2 {
                        group.addTask {
                            for number in 0..<10_000 {
                                let name = "\(writer)-\(number)"
                                guard (try? await cache.store(Self.content(number), for: key(name))) != nil else {
                                    return
                                }
                                Self.say("stored \(name)")
                            }
                        }
                    }
                    group.addTask {
                        // As a person would: at an instant that has nothing to do with what the writers do.
                        let limit = UInt64(fuse) * 1_000_000
                        let start = clock_gettime_nsec()
                        while clock_gettime_nsec() - start < limit { await Task.yield() }
                        kill(getpid(), SIGKILL)
                    }
                }
            }
            let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
            let path = try #require(lines.first { $0.hasPrefix("directory ") }).dropFirst("directory ".count)
            let url = URL(filePath: String(path))
            defer { try? FileManager.default.removeItem(at: url) }
            let cache = FileDiskCache(directory: url)

            _ = await cache.totalSize
            let left = (try? FileManager.default.contentsOfDirectory(atPath: path + "/unfinished")) ?? []
            #expect(left.isEmpty, "unfinished files stayed")
            for line in lines where line.hasPrefix("stored ") {
                let name = line.dropFirst("stored ".count)
                let number = try #require(Int(name.dropFirst(2)))
                #expect(await cache.data(for: key(String(name))) == Self.content(number), "\(name)")
                storedCount += 1
            }
        }
        #expect(storedCount > 0)
    }

    private static func content(_ number: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: number), count: 20_000 + number)
    }

    /// One line on standard output, at once.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }
}

private func clock_gettime_nsec() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
