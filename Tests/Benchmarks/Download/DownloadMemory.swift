import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials

/// What many requests leave behind: resident memory, and open descriptors.
struct DownloadMemory {
    private static let first = 1_000

    let server: any BenchServer
    let count: Int

    func run(_ what: DownloadCase) async throws {
        guard let base = server.base(for: what) else { return }
        let job = DownloadJob(what: what, base: base, authorityFile: server.authorityFile)
        let before = Self.descriptorCount
        let seen = try await fetch(count, job)
        // The transport's thread ends by itself.
        for _ in 0..<5_000 where Self.descriptorCount > before { try await Task.sleep(for: .milliseconds(1)) }
        Console.output(
            """
            \(what.name): \(count) requests
              resident after the first \(min(Self.first, count)): \(seen.early >> 10) KB, after all: \(seen.late >> 10) KB
              descriptors before: \(before), under way: \(seen.descriptors), after: \(Self.descriptorCount)

            """)
    }

    /// Fetches by a downloader of its own, and returns the resident bytes after the first requests and after all, and the
    /// descriptors then.
    private func fetch(_ count: Int, _ job: DownloadJob) async throws -> (early: Int, late: Int, descriptors: Int) {
        let peer = DownloaderPeer(job)
        var (done, early) = (0, 0)
        while done < count {
            // By pieces, so that the URLs that wait are no part of it.
            let piece = min(Self.first, count - done)
            _ = try await peer.fetch(piece, from: done)
            done += piece
            if early == 0 { early = ResidentMemory.byteCount }
        }
        let seen = (early, ResidentMemory.byteCount, Self.descriptorCount)
        await peer.downloader.shutDown()
        return seen
    }

    /// Open descriptors, apart from those that the runtime opens for its timers and queues when it first needs them, and
    /// keeps.
    private static var descriptorCount: Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            // The one that reads the folder is gone by now.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target.map { !$0.hasPrefix("anon_inode:") } ?? false
        }
    }
}
