import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// The file system of temporary files.
private enum FileSystem {
    /// Whether the file system can tell whether a file is in memory. That of tmpfs cannot.
    static let supportsReadsAtOnce: Bool = {
        guard let directory = try? TemporaryDirectory(),
            FileManager.default.createFile(atPath: "\(directory.path)/a", contents: Data([1]))
        else { return false }
        do {
            let file = try Descriptor(openingCached: "a", beneath: Descriptor(opening: directory.path, O_RDONLY))
            return try file.readAll(1, waits: false) != nil
        } catch {
            return false
        }
    }()
}

/// Reads that do not block.
@Suite(
    .enabled(if: FileSystem.supportsReadsAtOnce, "the file system has no reads that do not wait"),
    .timeLimit(.minutes(10)))
struct ReadAtOnceTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let store: EntryStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Self.makeStore(directory, clock)
    }

    private static func makeStore(_ directory: TemporaryDirectory, _ clock: ManualClock) throws -> EntryStore {
        EntryStore(
            try #require(EntryPaths(directory.url, pathExtension: nil)), limits: DataCacheLimits(), durability: .none,
            lockTimeout: .seconds(300), clock: clock)
    }

    private enum Answer: Equatable {
        case found(CachedData)
        case absent
        case other

        init(_ reading: EntryStore.Reading) {
            switch reading {
            case .found(let entry): self = .found(entry)
            case .absent: self = .absent
            case .expired, .unconfirmed: self = .other
            }
        }
    }

    private var answerAtOnce: Answer? { store.readAtOnce(key("a")).map { Answer($0.result) } }

    /// The first answer that the system can give at once. A rename in any directory of the system can delay it.
    private var nextAnswerAtOnce: Answer? {
        while !Task.isCancelled {
            if let answer = answerAtOnce { return answer }
        }
        return nil
    }

    private var answer: Answer { Answer(store.read(key("a"), isMapped: false).result) }

    @Test(arguments: [0, 4_000, 1 << 20])
    func `an entry is found while its file is in the system's memory`(count: Int) throws {
        let entry = CachedData(bytes(count), metadata: bytes(5), expiry: clock.now + 60)
        try store.store(entry, for: key("a"))
        #expect(nextAnswerAtOnce == .found(entry))

        let file = open(directory.file("a"), O_RDONLY)
        defer { close(file) }
        #expect(fdatasync(file) == 0)
        #expect(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0)
        // The kernel may keep the file, or read it again ahead of time.
        #expect([nil, .found(entry)].contains(answerAtOnce))

        #expect(answer == .found(entry))
        #expect(nextAnswerAtOnce == .found(entry))
    }

    @Test func `a lookup that needs changes of another cache is left to a thread`() throws {
        let other = try Self.makeStore(directory, clock)
        #expect(answerAtOnce == nil)
        try other.store(CachedData(bytes(10)), for: key("b"))
        #expect(answerAtOnce == nil)
        #expect(answer == .absent)
        #expect(answerAtOnce == .absent)

        let entry = CachedData(bytes(20))
        try other.store(entry, for: key("a"))
        #expect(answerAtOnce == nil)
        #expect(answer == .found(entry))
        #expect(nextAnswerAtOnce == .found(entry))

        other.removeAll { [] }
        #expect(answerAtOnce == nil)
        #expect(answer == .other)
        #expect(store.confirm(key("a")) == nil)
        #expect(answerAtOnce == .absent)

        try FileManager.default.removeItem(at: directory.url)
        #expect(answerAtOnce == nil)
    }

    @Test func `an expired, damaged, replaced or long entry is left to a thread`() throws {
        let path = directory.file("a")
        try store.store(CachedData(bytes(10), expiry: clock.now + 60), for: key("a"))
        clock.advance(by: .seconds(60))
        #expect(answerAtOnce == nil)

        try store.store(CachedData(bytes(10)), for: key("a"))
        var file = try Data(contentsOf: URL(filePath: path))
        file[0] ^= 1
        try file.write(to: URL(filePath: path))
        #expect(answerAtOnce == nil)

        try store.store(CachedData(bytes(10)), for: key("a"))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".other")
        #expect(answerAtOnce == nil)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".other")
        #expect(answerAtOnce == nil)

        try store.store(CachedData(bytes(2 << 20)), for: key("a"))
        #expect(answerAtOnce == nil)
        #expect(answer == .found(CachedData(bytes(2 << 20))))
    }

    @Test func `a lookup does not wait for a thread that accesses the index`() async throws {
        try store.store(CachedData(bytes(10)), for: key("a"))
        let (held, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = BlockingExecutor(name: "test", maxConcurrent: 2)
        try await thread.run { [self] in
            DispatchQueue.global().async { [self] in
                store.index.read { _ in
                    held.signal()
                    gate.wait()
                }
                held.signal()
            }
            held.wait()
            #expect(answerAtOnce == nil)
            gate.signal()
            held.wait()
            #expect(nextAnswerAtOnce != nil)
        }
    }

    @Test func `a cache finds an entry in memory while its reading threads are blocked`() async throws {
        let clock = HoldingClock()
        let cache = FileDiskCache(directory: directory.url, sweepInterval: .zero, clock: clock)
        try await cache.store(CachedData(bytes(10)), for: key("a"))
        await cache.flush()
        clock.hold(2)
        async let one = cache.mappedEntry(for: key("a"))
        async let two = cache.mappedEntry(for: key("a"))
        try await BlockingExecutor(name: "test", maxConcurrent: 1).run { for _ in 0..<2 { clock.waitForHeld() } }

        // The system may leave some of the lookups to a thread.
        let found = await withTaskGroup(of: CachedData?.self) { group in
            for _ in 0..<20 { group.addTask { await cache.entry(for: key("a")) } }
            defer { group.cancelAll() }
            return await group.next()
        }
        #expect(found == CachedData(bytes(10)))
        for _ in 0..<2 { clock.release() }
        #expect(await [one, two] == [CachedData(bytes(10)), CachedData(bytes(10))])
    }

    @Test func `a use is recorded in order and written when many are unwritten`() throws {
        for number in 0..<3 { try store.store(CachedData(bytes(10)), for: key("\(number)")) }
        #expect(!isDue("0"))
        let oldest = store.index.read(\.entries).min { $0.isUsedBefore($1) }
        #expect(oldest?.name == EntryName(key("1")))

        let count = IndexState.maximumUnwrittenUseCount
        for number in 0..<count { try store.store(CachedData(bytes(1)), for: key("many \(number)")) }
        let due = (0..<count).map { isDue("many \($0)") }
        #expect(due == (0..<count).map { $0 == count - 1 })
    }

    /// Whether the uses are to be written after a lookup of an entry, as a cache looks it up.
    private func isDue(_ name: String) -> Bool {
        (store.readAtOnce(key(name)) ?? store.read(key(name), isMapped: false)).isDue
    }
}
