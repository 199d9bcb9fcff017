import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct KilledWriterTests {
    private static let names = 12

    /// Returns an entry that contains its number. Every second one has its own file.
    private static func entry(_ number: Int) -> CachedData {
        let count = (number.isMultiple(of: 2) ? 1_000 : EntryTable.maximumInlineByteCount) + number
        return CachedData(bytes(count, seed: number), metadata: Data("\(number)".utf8))
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test func `entries that a killed writer reported as stored survive, and no file is left over`()
            async throws
        {
            var storedCount = 0
            for round in 0..<TestLength.rounds(5, full: 60) {
                let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
                    [round = round as Int] in
                    let directory = FileManager.default.temporaryDirectory.appending(
                        path: "alcedo-\(UUID().uuidString)")
                    Self.say("directory \(directory.path)")
                    let cache = SQLiteDiskCache(directory: directory)
                    // Half of them die after they have stored something, however slow the machine is.
                    if round.isMultiple(of: 2) {
                        try await cache.store(Self.entry(1), for: key("0-1"))
                        Self.say("stored 0-1 1")
                    }
                    let fuse = Int.random(in: 1...200)
                    await withTaskGroup(of: Void.self) { group in
                        for writer in 0..<2 {
                            group.addTask {
                                for number in 1..<100_000 {
                                    // The same names repeatedly, so that values are replaced.
                                    let name = "\(writer)-\(number % Self.names)"
                                    guard (try? await cache.store(Self.entry(number), for: key(name))) != nil else {
                                        return
                                    }
                                    Self.say("stored \(name) \(number)")
                                }
                            }
                        }
                        group.addTask {
                            // Real time in a separate process, because it must survive its end at any instant. No
                            // assertion relies on its progress.
                            try? await Task.sleep(for: .milliseconds(fuse))
                            kill(getpid(), SIGKILL)
                        }
                    }
                }
                let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
                let path = try #require(lines.first { $0.hasPrefix("directory ") }).dropFirst("directory ".count)
                let url = URL(filePath: String(path))
                defer { try? FileManager.default.removeItem(at: url) }
                var reported: [Substring: Int] = [:]
                for line in lines where line.hasPrefix("stored ") {
                    let words = line.split(separator: " ")
                    let number = try #require(Int(words[2]))
                    reported[words[1]] = number
                    storedCount += 1
                }

                let cache = SQLiteDiskCache(directory: url)
                let verification = await cache.verify()
                await cache.flush()

                #expect(verification.damagedNames.isEmpty)
                var largeCount = 0
                for name in (0..<2).flatMap({ writer in (0..<Self.names).map { "\(writer)-\($0)" } }) {
                    let found = await cache.entry(for: key(name))
                    let number = found.flatMap { Int(String(decoding: $0.metadata, as: UTF8.self)) }
                    if let last = reported[name[...]] {
                        #expect(try #require(number) >= last, "\(name)")
                    }
                    if let found, let number {
                        #expect(found == Self.entry(number), "\(name)")
                        if found.data.count > EntryTable.maximumInlineByteCount { largeCount += 1 }
                    }
                }
                #expect(TemporaryDirectory.valueFiles(in: url.path).count == largeCount)
            }
            #expect(storedCount > 0)
        }
    #endif

    /// Writes one line to standard output without buffering.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }
}
