import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(30)))
struct TwoProcessTests {
    private static let limits = DataCacheLimits(sizeLimit: 300_000, countLimit: 40)

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private enum Trouble: Error {
        case damaged(String)
    }

    /// Stores, reads, removes and trims, and checks every entry that it finds.
    private static func work(in path: String, seed: UInt64, steps: Int) async throws {
        var random = SeededGenerator(seed: seed)
        var cache = FileDiskCache(directory: URL(filePath: path), limits: limits, lockTimeout: .seconds(120))
        for step in 1...steps {
            let name = "\(Int.random(in: 0..<60, using: &random))"
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45:
                try await cache.store(ProvenValue(name: name, version: step).entry, for: key(name))
            case 45..<90:
                guard let entry = await cache.entry(for: key(name)) else { continue }
                guard ProvenValue(entry, name: name) != nil else { throw Trouble.damaged(name) }
            case 90..<96: await cache.remove(key(name))
            case 96: await cache.trim(toSize: 100_000)
            case 97: _ = await (cache.count, cache.items())
            case 98: await cache.removeAll()
            default:
                guard cache.statistics.damagedEntries == 0 else { throw Trouble.damaged("counted") }
                cache = FileDiskCache(directory: URL(filePath: path), limits: limits, lockTimeout: .seconds(120))
            }
        }
        await cache.flush()
        guard cache.statistics.damagedEntries == 0 else { throw Trouble.damaged("counted") }
    }

    /// Checks the limits after one flush.
    private func expectOrder() async throws {
        let cache = FileDiskCache(directory: directory.url, limits: Self.limits)
        try await cache.store(ProvenValue(name: "0", version: 1).entry, for: key("0"))
        await cache.flush()
        #expect(await cache.totalSize <= Self.limits.sizeLimit)
        #expect(await cache.count <= Self.limits.countLimit)
        #expect(directory.unfinished.isEmpty)
        for number in 0..<60 {
            guard let entry = await cache.entry(for: key("\(number)")) else { continue }
            #expect(ProvenValue(entry, name: "\(number)") != nil)
        }
        #expect(cache.statistics.damagedEntries == 0)
        #expect(await cache.verify().damagedNames.isEmpty)
        #expect(await cache.totalSize == directory.fileSizes)
        #expect(await cache.count == directory.files.count)
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test func `two concurrent processes see no damage, no store fails, and the limits hold after a flush`()
            async throws
        {
            let steps = TestLength.rounds(600, full: 30_000)
            let path = directory.path
            async let one: Void = {
                let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    [path = path as String, steps = steps as Int] in
                    await Child.tellTrouble { try await Self.work(in: path, seed: 1, steps: steps) }
                }
                #expect(result?.standardOutputContent.isEmpty == true, Child.told(result?.standardOutputContent))
            }()
            async let two: Void = {
                let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    [path = path as String, steps = steps as Int] in
                    await Child.tellTrouble { try await Self.work(in: path, seed: 2, steps: steps) }
                }
                #expect(result?.standardOutputContent.isEmpty == true, Child.told(result?.standardOutputContent))
            }()
            _ = await (one, two)
            try await expectOrder()
        }
    #endif

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test func `a killed process does not block others`() async throws {
            let path = directory.path
            for round in 0..<TestLength.rounds(3, full: 100) {
                async let victim: Void = {
                    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                        Child.dieSoon(within: 120)
                        try await Self.work(in: path, seed: .random(in: 0 ... .max), steps: .max - 1)
                    }
                }()
                try await Self.work(in: path, seed: UInt64(round), steps: 300)
                await victim
                try await expectOrder()
            }
        }
    #endif

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test func `a stopped process with the index lock lets others read, and lets them store once it is gone`()
            async throws
        {
            // The lock timeout must not elapse on a slow machine, except where it is tested.
            let cache = FileDiskCache(directory: directory.url, lockTimeout: .seconds(TestLength.isFull ? 10 : 300))
            for number in 0..<10 { try await cache.store(bytes(number), for: key("\(number)")) }
            let path = directory.path
            let note = directory.path + "/process"
            async let stopped: Void = {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                    let lock = try IndexLock(path)
                    try Data("\(getpid())".utf8).write(to: URL(filePath: path + "/process"), options: .atomic)
                    raise(SIGSTOP)
                    withExtendedLifetime(lock) {}
                }
            }()
            var process: Int32?
            try await eventually {
                process = FileManager.default.contents(atPath: note).flatMap {
                    Int32(String(decoding: $0, as: UTF8.self))
                }
                return process != nil
            }

            let store = Task { try await cache.store(bytes(100), for: key("new")) }
            try await eventually { await cache.data(for: key("new")) == bytes(100) }
            for number in 0..<10 {
                #expect(await cache.data(for: key("\(number)")) == bytes(number))
                #expect(await FileDiskCache(directory: directory.url).data(for: key("\(number)")) == bytes(number))
            }
            #expect(await cache.data(for: key("nobody")) == nil)
            #expect(await cache.items().count == 10)
            if TestLength.isFull {
                // It fails while the other process still has the index.
                let error = await #expect(throws: DataCacheError.self) { try await store.value }
                #expect(error?.code == .failed)
            }

            kill(try #require(process), SIGKILL)
            await stopped
            if !TestLength.isFull { try await store.value }
            try await cache.store(bytes(200), for: key("new"))
            #expect(await cache.data(for: key("new")) == bytes(200))
            #expect(await cache.count == 11)
        }
    #endif
}
