import Alcedo
import FoundationEssentials

/// The whole downloader, without rules of the app's.
struct DownloaderPeer: DownloadPeer {
    let job: DownloadJob
    let downloader: Downloader

    init(_ job: DownloadJob) {
        self.job = job
        let limit = job.what.width
        downloader = Downloader(
            transport: CURLTransport(options: TransportPeer.options(job)),
            configuration: Downloader.Configuration(maximumConcurrentDownloads: limit))
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await job.time(job.urls(count, from: first)) { url in
            let download = try await downloader.download(DownloadRequest(.http(HTTPRequest(url: url))), progress: nil)
            try job.check(download.data, from: "the downloader")
        }
    }
}
