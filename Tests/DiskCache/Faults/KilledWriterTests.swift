import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// A process is killed at any instant. Every change that it reported as done must be present.
@Suite(.spawnsProcesses, .timeLimit(.minutes(30)))
struct KilledWriterTests {
    enum Work: String, CaseIterable {
        case storing, trimming
        /// The index is compacted between stores.
        case compacting
        /// The index is lost and rebuilt from the files between stores.
        case reconciling
    }

    private static let names = (0..<2).map { writer in (0..<15).map { "\(writer)-\($0)" } }

    private static let compacting = BlockingExecutor(name: "compacting", maxConcurrent: 1)

    private static func cache(_ path: String, _ work: Work) -> FileDiskCache {
        FileDiskCache(
            directory: URL(filePath: path),
            limits: work == .trimming ? DataCacheLimits(countLimit: 20) : DataCacheLimits())
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Work.allCases)
        func `entries that a killed writer reported as stored survive, and no entry is torn`(work: Work)
            async throws
        {
            var doneCount = 0
            for round in 0..<TestLength.rounds(3, full: 100) {
                let directory = try TemporaryDirectory()
                let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
                    [path = directory.path as String, work = work.rawValue as String, round = round as Int] in
                    try await Self.write(in: path, try #require(Work(rawValue: work)), round)
                }
                let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
                doneCount += try await check(directory, work, output.split(separator: "\n"), "round \(round)")
            }
            #expect(doneCount > 0)
        }
    #endif

    // MARK: The killed process

    private static func write(in path: String, _ work: Work, _ round: Int) async throws {
        let cache = cache(path, work)
        // Half of the processes die after they have changed something, however slow the machine is, and the others at
        // any instant.
        if round.isMultiple(of: 2) { try await change(names[0][0], to: 1, in: cache) }
        Child.dieSoon(within: 150)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for names in names {
                group.addTask {
                    for version in 1... {
                        guard let name = names.randomElement() else { return }
                        try await change(name, to: version % 6 == 0 ? 0 : version, in: cache)
                    }
                }
            }
            group.addTask {
                while true { try await disturb(cache, path, work) }
            }
            try await group.waitForAll()
        }
    }

    /// - Parameter version: Zero means no entry.
    private static func change(_ name: String, to version: Int, in cache: FileDiskCache) async throws {
        Child.say("begin \(name) \(version)")
        if version == 0 {
            await cache.remove(key(name))
        } else {
            try await cache.store(ProvenValue(name: name, version: version).entry, for: key(name))
        }
        Child.say("end \(name) \(version)")
    }

    private static func disturb(_ cache: FileDiskCache, _ path: String, _ work: Work) async throws {
        switch work {
        case .storing: _ = await cache.items()
        case .trimming: await cache.trim(toSize: .random(in: 0...200_000))
        case .reconciling:
            unlink(path + "/index")
            _ = await cache.count
        case .compacting:
            let index = try #require(cache.engine).store.index
            // On a thread that may block, because the writers need the threads of the tasks.
            try await compacting.run {
                try index.change { change throws(DataCacheError) in
                    guard let entry = change.read(\.entries.first) else { return }
                    try change.append(Array(repeating: .entry(entry), count: 8192 + 200))
                }
            }
        }
    }

    // MARK: The remaining files

    /// Returns the number of changes that were reported as done.
    private func check(
        _ directory: TemporaryDirectory, _ work: Work, _ lines: [Substring], _ comment: String
    ) async throws -> Int {
        var doneCount = 0
        var done: [String: Int] = [:]
        var begun: [String: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 3, let version = Int(words[2]) else { continue }
            if words[0] == "begin" { begun[String(words[1])] = version }
            if words[0] == "end" {
                begun[String(words[1])] = nil
                done[String(words[1])] = version
                doneCount += 1
            }
        }

        let cache = Self.cache(directory.path, work)
        for name in Self.names.joined() {
            let found = await cache.entry(for: key(name))
            let version = found.map { ProvenValue($0, name: name)?.version } ?? 0
            var right: Set<Int?> = [done[name] ?? 0, begun[name] ?? done[name] ?? 0]
            if work == .trimming { right.insert(0) }
            #expect(right.contains(version), "\(comment): \(name)")
        }
        await cache.flush()
        #expect(directory.unfinished.isEmpty, "\(comment)")
        #expect(cache.statistics.damagedEntries == 0, "\(comment)")
        #expect(await cache.verify().damagedNames.isEmpty, "\(comment)")
        #expect(await cache.totalSize == directory.fileSizes, "\(comment)")
        #expect(await cache.count == directory.files.count, "\(comment)")
        if work == .trimming { #expect(await cache.count <= 20) }
        return doneCount
    }
}
