import AlcedoCore
import AlcedoDiskCache
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct FullDiskTests {
    /// A file system of 256 KiB in memory. It is in no folder: only an open descriptor holds it, so that it ends with
    /// the process, however that ends.
    private final class SmallDisk {
        private let descriptor: Int32

        init?() throws {
            let directory = try TemporaryDirectory()
            guard mount("none", directory.path, "tmpfs", 0, "size=256k") == 0 else { return nil }
            descriptor = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            umount2(directory.path, Int32(MNT_DETACH))
            guard descriptor >= 0 else { return nil }
        }

        deinit { close(descriptor) }

        var path: String { "/proc/self/fd/\(descriptor)" }
        var url: URL { URL(filePath: path) }

        /// Paths of the finished and unfinished files, from here.
        var files: [String] {
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return folders.flatMap { folder in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []
                return names.map { "\(folder)/\($0)" }
            }
        }
    }

    private static let canMount: Bool = (try? SmallDisk()) != nil

    @Test(.enabled(if: canMount, "only the superuser may make a small file system"))
    func `a full disk makes the cache give up old entries, not the new one`() async throws {
        let disk = try #require(try SmallDisk())
        let cache = FileDiskCache(directory: disk.url)
        for number in 0..<40 { try await cache.store(bytes(20_000), for: key("\(number)")) }

        #expect(await cache.data(for: key("39")) == bytes(20_000))
        #expect(await cache.totalSize <= 256 << 10)
        #expect(disk.files.count >= 4)
    }

    @Test(.enabled(if: canMount, "only the superuser may make a small file system"))
    func `an entry that the disk cannot hold is an error, and nothing is left of it`() async throws {
        let disk = try #require(try SmallDisk())
        let cache = FileDiskCache(directory: disk.url)
        try await cache.store(bytes(1000), for: key("a"))
        let error = await #expect(throws: DataCacheError.self) {
            try await cache.store(bytes(400_000), for: key("large"))
        }

        #expect(error?.code == .noSpace)
        #expect(await cache.data(for: key("large")) == nil)
        try await cache.store(bytes(1000), for: key("b"))
        #expect(await cache.data(for: key("b")) == bytes(1000))
        #expect(!disk.files.isEmpty && disk.files.allSatisfy { !$0.contains("unfinished") })
    }

    @Test func `a file that may not grow is no space`() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 10_000, rlim_max: 10_000)
            guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            let directory = try TemporaryDirectory()
            let cache = FileDiskCache(directory: directory.url)
            try await cache.store(bytes(5000), for: key("small"))
            do {
                try await cache.store(bytes(50_000), for: key("large"))
                exit(3)
            } catch let error as DataCacheError {
                guard error.code == .noSpace else { exit(4) }
            }
            guard await cache.data(for: key("large")) == nil else { exit(5) }
            guard directory.files.allSatisfy({ !$0.contains("unfinished") }) else { exit(6) }
            withExtendedLifetime(directory) {}
        }
    }
}
