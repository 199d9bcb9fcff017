import AlcedoCore
import AlcedoLibc
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoSQLiteCache

/// A second verification finds nothing after the first.
@Suite(.timeLimit(.minutes(10)))
struct VerifyingTests {
    private let directory: TemporaryDirectory
    private let cache: SQLiteDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        cache = SQLiteDiskCache(directory: directory.url)
    }

    private static func content(_ number: Int) -> Data {
        Data(repeating: UInt8(number), count: number % 4 == 0 ? 40_000 : number * 700)
    }

    private func fill() async throws {
        for number in 0..<12 { try await cache.store(Self.content(number), for: key("\(number)")) }
        await cache.flush()
        for number in 0..<12 { _ = await cache.entry(for: key("\(number)")) }
    }

    private func expectDone(_ comment: Comment) async {
        let first = await cache.verify()
        #expect(Set(first.damagedNames).count == first.damagedNames.count, comment)
        for turn in 2...3 {
            let next = await cache.verify()
            #expect(next.damagedNames.isEmpty, "turn \(turn) \(comment)")
            #expect(await next.checkedCount == cache.count, "turn \(turn) \(comment)")
            #expect(await next.byteCount == cache.totalSize, "turn \(turn) \(comment)")
        }
        for number in 0..<12 {
            let found = await cache.data(for: key("\(number)"))
            #expect(found == nil || found == Self.content(number), comment)
        }
    }

    @Test(
        arguments: [
            "DELETE FROM content WHERE id = 3", "UPDATE entry SET name = CAST(name AS BLOB) WHERE id = 3",
            "UPDATE entry SET name = x'ff' || name WHERE id = 3", "UPDATE entry SET resource = 1 WHERE id = 3",
            "UPDATE entry SET size = 9 WHERE id = 3", "UPDATE content SET resource = 'x' WHERE id = 3",
            "UPDATE entry SET checksum = 1 WHERE id = 3", "UPDATE content SET id = 999 WHERE id = 3",
        ] as [String])
    func `a row that cannot be found by its name is detected`(sql: String) async throws {
        try await fill()
        try Connection(path: directory.database.path, busyTimeout: 60_000).execute(sql)

        let verification = await cache.verify()

        #expect(verification.checkedCount == 12)
        #expect(verification.damagedNames.count == 1)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(await cache.count == 11)
        let connection = try Connection(path: directory.database.path, busyTimeout: 60_000)
        #expect(try connection.firstRow("SELECT count(*) FROM content") { $0.integer(0) } == 11)
        await expectDone("\(sql)")
    }

    @Test func `cached pages of a connection hide no damage`() async throws {
        try await fill()
        await cache.storage.close()
        for number in 0..<12 { _ = await cache.entry(for: key("\(number)")) }
        try await cache.store(bytes(8_400), for: key("12"))
        try change { database in
            guard let place = database.firstRange(of: Self.content(5).prefix(500)) else { return }
            database[place.lowerBound] ^= 1
        }

        #expect(await cache.verify().damagedNames == [key("5").fileName])
        await expectDone("")
    }

    private func change(_ change: (inout Data) -> Void) throws {
        let whole = try Data(contentsOf: directory.database)
        var changed = whole
        change(&changed)
        try #require(changed != whole)
        // The same file, which is open.
        let file = open(directory.database.path, O_WRONLY)
        defer { close(file) }
        let written = changed.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        try #require(written == changed.count)
    }

    @Test(arguments: 0..<40)
    func `whatever the damage, a second verification finds nothing more`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try await fill()
        if Bool.random(using: &random) { await cache.storage.close() }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: flip(directory.database.path, &random)
            case 2: flip(directory.log.path, &random)
            case 3: if let file = directory.valueFiles.randomElement(using: &random) { flip(file, &random) }
            case 4:
                guard let file = directory.valueFiles.randomElement(using: &random) else { break }
                unlink(file)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: mkdir(file, 0o700)
                case 1:
                    try FileManager.default.createDirectory(atPath: file + "/x/y", withIntermediateDirectories: true)
                case 2: symlink("/etc/hostname", file)
                default: mkfifo(file, 0o600)
                }
            default:
                let path = Bool.random(using: &random) ? directory.database.path : directory.log.path
                var status = stat()
                if stat(path, &status) == 0 { truncate(path, Int.random(in: 0...Int(status.st_size), using: &random)) }
            }
        }
        await expectDone("seed \(seed)")
    }

    private func flip(_ path: String, _ random: inout SeededGenerator) {
        let file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > 0 else { return }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<(Bool.random(using: &random) ? size : min(size, 20_000)), using: &random)
            var byte: UInt8 = 0
            guard pread(file, &byte, 1, place) == 1 else { return }
            byte ^= 1 << UInt8.random(in: 0..<8, using: &random)
            _ = pwrite(file, &byte, 1, place)
        }
    }

    @Test func `foreign files among the values are removed, and the targets of links are kept`() async throws {
        try await fill()
        let precious = directory.path + "/precious"
        try Data("precious".utf8).write(to: URL(filePath: precious))
        // Names that values could have.
        let (one, two) = ("\(directory.path)/values/0000000000000001", "\(directory.path)/values/0000000000000002")
        try FileManager.default.createDirectory(
            atPath: one + String(repeating: "/deep", count: 50), withIntermediateDirectories: true)
        #expect(symlink(precious, two) == 0)
        #expect(symlink(precious, one + "/link") == 0)

        #expect(await cache.verify().damagedNames.isEmpty)

        #expect(directory.valueFiles.count == 3)
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }
}
