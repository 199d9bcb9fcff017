import Alcedo
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials

/// Measures the resident memory and the open descriptors after many requests.
struct DownloadMemory {
    private static let first = 1_000

    let server: any BenchServer
    let count: Int

    func run(_ downloadCase: DownloadCase) async throws {
        guard let base = server.base(for: downloadCase) else { return }
        let job = DownloadJob(downloadCase: downloadCase, base: base, authorityFile: server.authorityFile)
        let before = Self.descriptorCount
        let seen = try await fetch(count, job)
        // The transport's thread closes its descriptors asynchronously.
        for _ in 0..<5_000 where Self.descriptorCount > before { try await Task.sleep(for: .milliseconds(1)) }
        Console.output(
            """
            \(downloadCase.name): \(count) requests
              resident after the first \(min(Self.first, count)): \(seen.early >> 10) KB, after all: \(seen.late >> 10) KB
              descriptors before: \(before), during: \(seen.descriptors), after: \(Self.descriptorCount)

            """)
    }

    /// Fetches with a new downloader. Returns the resident bytes after the first requests and after all, and the number
    /// of descriptors after all.
    private func fetch(_ count: Int, _ job: DownloadJob) async throws -> (early: Int, late: Int, descriptors: Int) {
        let peer = DownloaderPeer(job)
        var (done, early) = (0, 0)
        while done < count {
            // The URLs are created in batches, so that they do not count as memory of the requests.
            let batch = min(Self.first, count - done)
            _ = try await peer.fetch(batch, from: done)
            done += batch
            if early == 0 { early = ResidentMemory.byteCount }
        }
        let seen = (early, ResidentMemory.byteCount, Self.descriptorCount)
        await peer.downloader.shutDown()
        return seen
    }

    /// The number of open descriptors, without those of the runtime's timers and queues, which are created at the first
    /// use and stay open.
    private static var descriptorCount: Int {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count { name in
            // The descriptor that read the directory is closed by now, so it has no destination.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")
            return target.map { !$0.hasPrefix("anon_inode:") } ?? false
        }
    }
}
