import AlcedoCore
import AlcedoRuntime
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// System errors for some of the cache's files.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct SystemErrorTests {
    @Test func `an unreadable entry is not verified, and an unreadable directory is reported`() async throws {
        await #expect(processExitsWith: .success) {
            await Child.tellTrouble {
                let directory = try TemporaryDirectory()
                Child.becomeNobody(owning: directory.path)
                let cache = FileDiskCache(directory: directory.url)
                for name in ["a", "b"] { try await cache.store(bytes(100), for: key(name)) }
                chmod(directory.file("a"), 0)
                let verified = await cache.verify()
                guard verified.checkedCount == 1, verified.damagedNames.isEmpty, await cache.count == 2 else { exit(3) }
                guard verified.error?.message.contains("Permission denied") == true else { exit(4) }
                chmod(directory.file("a"), 0o600)
                guard await cache.verify() == DataCacheVerification(checkedCount: 2, byteCount: directory.fileSizes)
                else { exit(5) }
                guard await cache.listingError() == nil else { exit(6) }
                chmod(directory.path, 0)
                let another = FileDiskCache(directory: directory.url)
                let error = await another.listingError()
                let report = await another.trim(toSize: 0)
                let blind = await another.verify()
                chmod(directory.path, 0o700)
                guard error?.code == .notWritable, report.error == error, blind.error == error else {
                    exit(7)
                }
            }
        }
    }

    @Test func `a directory that cannot be reached is reported, and one that does not exist is not`() async throws {
        await #expect(processExitsWith: .success) {
            await Child.tellTrouble {
                let directory = try TemporaryDirectory()
                Child.becomeNobody(owning: directory.path)
                let url = directory.url.appending(path: "cache")
                guard await FileDiskCache(directory: url).listingError() == nil else { exit(3) }
                try await FileDiskCache(directory: url).store(bytes(100), for: key("a"))
                chmod(directory.path, 0)
                let cache = FileDiskCache(directory: url)
                let error = await cache.listingError()
                let report = await cache.trim()
                let verified = await cache.verify()
                let isRemoved = await cache.remove(key("a"))
                chmod(directory.path, 0o700)
                guard error?.code == .notWritable, report.error == error, verified.error == error else { exit(4) }
                guard !isRemoved, await cache.data(for: key("a")) == bytes(100), await cache.count == 1 else {
                    exit(5)
                }
                withExtendedLifetime(directory) {}
            }
        }
    }

    @Test func `entries that cannot be listed for a merge keep their order of use`() async throws {
        await #expect(processExitsWith: .success) {
            await Child.tellTrouble {
                let (directory, other) = (try TemporaryDirectory(), try TemporaryDirectory())
                Child.becomeNobody(owning: other.path)
                let clock = ManualClock()
                let source = FileDiskCache(directory: other.url, clock: clock)
                for name in ["a", "b"] {
                    try await source.store(bytes(100), for: key(name))
                    clock.advance(by: .seconds(1))
                }
                _ = await source.entry(for: key("a"))
                await source.flush()
                let shards = ["a", "b"].map { String(other.file($0).dropLast(63)) }
                for shard in shards { chmod(shard, 0) }
                let cache = FileDiskCache(directory: directory.url, clock: clock)
                let count = await cache.adoptEntries(of: other.url)
                for shard in shards { chmod(shard, 0o700) }
                guard count == 0 else { exit(3) }
                let items = await FileDiskCache(directory: other.url, clock: clock).items()
                guard items.map(\.name) == ["b", "a"].map({ key($0).fileName }) else { exit(4) }
                withExtendedLifetime((directory, other)) {}
            }
        }
    }

    @Test func `a new shard directory is durable only with the cache's directory`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            Child.becomeNobody(owning: directory.path)
            guard let paths = EntryPaths(directory.url, pathExtension: nil) else { exit(3) }
            let files = EntryDirectory(paths: paths)
            let top = try Descriptor(opening: paths.directory, Descriptor.onlyPath)
            let entry = CachedData(bytes(10))
            guard let image = EntryFile.encode(entry, key: key("a"), storedAt: Timestamp(Date())) else { exit(4) }
            for durability in [Durability.none, .entry] {
                let file = try files.write(image, durability: durability).file
                // A process that may not open the directory cannot wait for it.
                chmod(directory.path, 0o300)
                _ = try files.publish(file, as: EntryName(key("a")), in: top, durability: durability)
                chmod(directory.path, 0o700)
            }
            let file = try files.write(image, durability: .directory).file
            chmod(directory.path, 0o300)
            do {
                _ = try files.publish(file, as: EntryName(key("b")), in: top, durability: .directory)
                exit(5)
            } catch let error as DataCacheError {
                chmod(directory.path, 0o700)
                guard error.code == .notWritable else { exit(6) }
            }
        }
    }
}
