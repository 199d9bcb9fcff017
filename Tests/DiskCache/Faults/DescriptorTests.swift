import AlcedoCore
import AlcedoDiskCache
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

/// Without available file descriptors a process cannot read entries that are intact.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DescriptorTests {
    enum Work: String, CaseIterable {
        case reading, mapping, pieces, verifying, counting, countingWithoutIndex, storing, removingOther
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(arguments: Work.allCases)
        func `no entry is lost while no file descriptors are available`(work: Work) async throws {
            await #expect(processExitsWith: .success) { [work = work.rawValue as String] in
                try await Self.exhaust(try #require(Work(rawValue: work)))
            }
        }
    #endif

    private static func exhaust(_ work: Work) async throws {
        try Scarcity.limitDescriptors(to: 200)
        let directory = try TemporaryDirectory()
        let cache = FileDiskCache(directory: directory.url)
        for number in 0..<5 { try await cache.store(bytes(number * 100), for: key("\(number)")) }
        await cache.flush()
        if work == .countingWithoutIndex { unlink(directory.path + "/index") }
        // The descriptors needed to remove some entries.
        for spare in [0, 1, 2, 3] {
            try await Scarcity.withDescriptors(spare) {
                switch work {
                case .reading: for number in 0..<5 { _ = await cache.entry(for: key("\(number)")) }
                case .mapping: for number in 0..<5 { _ = await cache.mappedEntry(for: key("\(number)")) }
                case .pieces: for number in 0..<5 { _ = await cache.chunks(for: key("\(number)")) }
                case .verifying: try #require(await cache.verify().damagedNames.isEmpty)
                case .counting, .countingWithoutIndex: _ = await cache.count
                case .storing: try? await cache.store(bytes(9), for: key("new"))
                case .removingOther: await cache.removeAll(of: ResourceKey("nobody"))
                }
            }
        }

        for reader in [cache, FileDiskCache(directory: directory.url)] {
            for number in 0..<5 { #expect(await reader.data(for: key("\(number)")) == bytes(number * 100)) }
            #expect(await reader.count == directory.files.count)
        }
    }
}
