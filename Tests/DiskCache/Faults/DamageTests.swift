import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// A damaged entry is a miss and is removed, and the next store works.
@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
    private let directory: TemporaryDirectory
    private let cache: FileDiskCache
    private let entry = CachedData(bytes(40), metadata: Data("notes".utf8))
    private let path: String
    private let whole: Data

    init() async throws {
        directory = try TemporaryDirectory()
        cache = FileDiskCache(directory: directory.url)
        try await cache.store(entry, for: key("a"))
        path = directory.file("a")
        whole = try #require(FileManager.default.contents(atPath: path))
    }

    /// Damages a complete entry that the cache knows.
    private func replace(by content: Data) async throws {
        if !exists { try await cache.store(entry, for: key("a")) }
        try content.write(to: URL(filePath: path))
    }

    private var exists: Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func expectMiss(_ what: String) async {
        #expect(await cache.entry(for: key("a")) == nil, "\(what)")
        #expect(!exists, "\(what)")
    }

    private func expectRecovery() async throws {
        try await cache.store(entry, for: key("a"))
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(await cache.totalSize == block)
    }

    @Test func `every changed byte is detected`() async throws {
        for index in whole.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[index] ^= mask
                try await replace(by: bytes)
                await expectMiss("byte \(index) ^ \(mask)")
            }
        }
        #expect(await cache.totalSize == 0)
        try await expectRecovery()
    }

    @Test func `a changed byte in any block of a large file is detected`() async throws {
        let large = CachedData(bytes(300_000), metadata: Data("notes".utf8))
        try await cache.store(large, for: key("a"))
        #expect(await cache.entry(for: key("a")) == large)
        let file = try #require(FileManager.default.contents(atPath: path))
        let bounds = [128 << 10, 256 << 10, 300_000, file.count - 56, file.count - 8]
        for index in [0, file.count - 1] + bounds.flatMap({ [$0 - 1, $0] }) {
            try await cache.store(large, for: key("a"))
            var damaged = file
            damaged[index] ^= 1
            try damaged.write(to: URL(filePath: path))
            await expectMiss("byte \(index)")
        }
        for content in [file.dropLast(), file + [0], file.prefix(128 << 10)] {
            try await cache.store(large, for: key("a"))
            try content.write(to: URL(filePath: path))
            await expectMiss("\(content.count) bytes")
        }
    }

    @Test func `a file of version 02, with the checksum XXH64, is a miss and is removed`() async throws {
        var old = whole
        let end = old.count - 56
        old[end + 7] = UInt8(ascii: "2")
        let head = old[end..<end + 48]
        let attributes = old[40..<end]
        let checksum = XXH64.hash(
            attributes.bytes, seed: XXH64.hash(old.prefix(40).bytes, seed: XXH64.hash(head.bytes)))
        withUnsafeBytes(of: checksum.littleEndian) { old.replaceSubrange((end + 48)..., with: $0) }

        try await replace(by: old)
        await expectMiss("version 02")
        try await expectRecovery()
    }

    @Test(arguments: ["3", "5"])
    func `a valid file of another version is a miss and is removed`(version: String) async throws {
        var other = whole
        let end = other.count - 56
        other[end + 7] = version.utf8.first ?? 0
        let checksum = XXH3.hash(other.prefix(end + 48).bytes)
        withUnsafeBytes(of: checksum.littleEndian) { other.replaceSubrange((end + 48)..., with: $0) }

        try await replace(by: other)
        await expectMiss("version 0\(version)")
        try await expectRecovery()
    }

    @Test func `every truncation is detected`() async throws {
        for count in 0..<whole.count {
            try await replace(by: whole.prefix(count))
            await expectMiss("\(count) bytes")
        }
        try await expectRecovery()
    }

    @Test func `extra bytes before or after and missing bytes at the front are detected`() async throws {
        for content in [whole + [0], [0] + whole, whole.dropFirst(), whole + whole, Data(count: whole.count)] {
            try await replace(by: content)
            await expectMiss("\(content.count) bytes")
        }
        try await expectRecovery()
    }

    @Test func `length fields larger than the file are detected`() async throws {
        let trailer = whole.count - 56
        for field in [8..<12, 12..<16, 16..<20, 24..<32] {
            for value in [0xFF, 0x7F, 0x80] as [UInt8] {
                var bytes = whole
                bytes.replaceSubrange(
                    trailer + field.lowerBound..<trailer + field.upperBound,
                    with: [UInt8](repeating: value, count: field.count))
                try await replace(by: bytes)
                await expectMiss("field \(field)")
            }
        }
    }

    @Test func `the complete file of another key is detected`() async throws {
        try await cache.store(CachedData(bytes(40)), for: key("b"))
        let other = try #require(FileManager.default.contents(atPath: directory.file("b")))
        try await replace(by: other)
        await expectMiss("another's file")
        #expect(await cache.data(for: key("b")) == bytes(40))
    }

    @Test func `a file of another program is detected`() async throws {
        try await replace(
            by: Data("GIF89a and nothing of ours, but long enough for a trailer of 56 bytes, which has many".utf8))
        await expectMiss("a foreign file")
        try await expectRecovery()
    }

    @Test func `a file larger than the cache is not read`() async throws {
        let descriptor = open(path, O_WRONLY)
        #expect(ftruncate(descriptor, 1 << 40) == 0)
        close(descriptor)
        await expectMiss("a terabyte of nothing")
    }

    @Test func `a directory with files in the place of an entry is replaced`() async throws {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path + "/x/y", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(filePath: path + "/x/file"))
        await expectMiss("a directory")
        try await expectRecovery()

        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        try await expectRecovery()
    }

    @Test func `nested directories of any depth in the place of an entry are replaced`() async throws {
        for isStored in [false, true] {
            let outside = directory.path + "/outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try Data("precious".utf8).write(to: URL(filePath: outside + "/letter"))
            unlink(path)
            let deep = path + String(repeating: "/deep", count: 100)
            try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
            for place in [path, deep] { #expect(symlink(outside, place + "/link") == 0) }
            if !isStored { await expectMiss("deep directories") }
            try await expectRecovery()
            #expect(cache.statistics.damagedEntries == (isStored ? 2 : 1))
            #expect(FileManager.default.contents(atPath: outside + "/letter") == Data("precious".utf8))
        }
    }

    @Test func `a symbolic link is neither followed nor written through`() async throws {
        let target = directory.path + "/target"
        try whole.write(to: URL(filePath: target))
        for destination in [target, directory.path + "/nothing", "/", path] {
            try await cache.store(entry, for: key("a"))
            _ = unlink(path)
            #expect(symlink(destination, path) == 0)
            await expectMiss("a link to \(destination)")

            #expect(symlink(destination, path) == 0)
            try await expectRecovery()
        }
        #expect(FileManager.default.contents(atPath: target) == whole)
    }

    @Test func `a FIFO does not block the reader and is replaced`() async throws {
        _ = unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        await expectMiss("a pipe")
        #expect(mkfifo(path, 0o600) == 0)
        try await expectRecovery()
    }

    @Test func `removing a damaged entry keeps a new entry`() async throws {
        // Readers that find damage and writers that replace it, concurrently.
        for round in 0..<100 {
            try await replace(by: Data(count: 50))
            async let miss = cache.entry(for: key("a"))
            try await cache.store(CachedData(bytes(10, seed: round)), for: key("a"))
            _ = await miss
            #expect(await cache.data(for: key("a")) == bytes(10, seed: round), "round \(round)")
        }
    }

    #if compiler(>=6.3)  // An exit test captures values since Swift 6.3.
        @Test(.spawnsProcesses, arguments: [true, false])
        func `a foreign file of any size is removed without being read`(isKnown: Bool) async throws {
            await #expect(processExitsWith: .success) { [isKnown = isKnown as Bool] in
                await Child.tellTrouble {
                    let directory = try TemporaryDirectory()
                    let cache = FileDiskCache(directory: directory.url)
                    try await cache.store(bytes(100), for: key("a"))
                    guard truncate(directory.file("a"), 1 << 30) == 0 else { exit(2) }
                    if !isKnown { unlink(directory.path + "/index") }
                    let other = isKnown ? cache : FileDiskCache(directory: directory.url)

                    guard await other.entry(for: key("a")) == nil, await other.verify().byteCount == 0 else { exit(3) }
                    guard access(directory.file("a"), F_OK) != 0 else { exit(4) }
                    // Not `getrusage`, which includes the parent's resident memory.
                    guard ResidentMemory.peakByteCount < 512 << 20 else { exit(5) }
                }
            }
        }
    #endif
}
