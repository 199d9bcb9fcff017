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

/// The transport alone.
struct TransportPeer: DownloadPeer {
    let job: DownloadJob
    let transport: CURLTransport

    init(_ job: DownloadJob) {
        self.job = job
        transport = CURLTransport(options: Self.options(job))
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await job.time(job.urls(count, from: first)) { url in
            let response = try await transport.send(HTTPRequest(url: url))
            try job.check(try await response.body.collect(limit: .max), from: "the transport")
        }
    }

    static func options(_ job: DownloadJob) -> CURLTransport.Options {
        var options = CURLTransport.Options()
        options.connections = job.what.connections
        options.connectionsPerHost = job.what.connections
        options.version = job.what.wire == .multiplexed ? .automatic : .http1
        if let file = job.authorityFile { options.authorities = .file(file) }
        return options
    }
}
