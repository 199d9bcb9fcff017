import Alcedo
import AlcedoHTTP
import FoundationEssentials

/// One of those who fetch the same bodies in turns.
protocol DownloadPeer: Sendable {
    /// Fetches so many bodies into memory, each from a URL of its own, and returns the time that took.
    ///
    /// - Parameter first: The number behind the first URL.
    /// - Throws: When an answer is not as it should be.
    func fetch(_ count: Int, from first: Int) async throws -> Duration
}

/// What a peer is to do.
struct DownloadJob: Sendable {
    let what: DownloadCase
    /// What a number is put behind to make a URL.
    let base: String
    /// The certificates to trust, in PEM.
    let authorityFile: URL?

    func urls(_ count: Int, from first: Int) -> [URL] {
        (first..<first + count).compactMap { URL(string: "\(base)\($0)") }
    }

    func check(_ body: Data, from name: String) throws {
        guard body.count == what.byteCount else {
            throw BenchError(description: "\(name) received \(body.count) of \(what.byteCount) bytes")
        }
    }

    /// Calls `work` for each URL, so many at once as the case says.
    func time(_ urls: [URL], _ work: @escaping @Sendable (URL) async throws -> Void) async throws -> Duration {
        let each = try await BenchTable.microseconds(urls.count, width: what.width) { try await work(urls[$0]) }
        return .microseconds(each * Double(urls.count))
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

    static func options(_ job: DownloadJob) -> CURLOptions {
        var options = CURLOptions()
        options.maxConcurrentTransfers = job.what.connections
        options.maxConcurrentTransfersPerHost = job.what.connections
        options.version = job.what.wire == .multiplexed ? .automatic : .http1
        if let file = job.authorityFile { options.authorities = .file(file) }
        return options
    }
}

/// The whole downloader, without rules of the app's.
struct DownloaderPeer: DownloadPeer {
    let job: DownloadJob
    let downloader: Downloader

    init(_ job: DownloadJob) {
        self.job = job
        let limit = job.what.width
        downloader = Downloader(
            transport: CURLTransport(options: TransportPeer.options(job)),
            configuration: DownloaderConfiguration(maxConcurrentDownloads: limit))
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await job.time(job.urls(count, from: first)) { url in
            let download = try await downloader.download(DownloadRequest(.http(HTTPRequest(url: url))))
            try job.check(download.data, from: "the downloader")
        }
    }
}
