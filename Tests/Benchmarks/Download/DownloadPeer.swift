import Alcedo
import AlcedoHTTP
import FoundationEssentials

/// A client that fetches the bodies of the benchmark.
protocol DownloadPeer: Sendable {
    /// Fetches `count` bodies into memory, each from a different URL, and returns the duration.
    ///
    /// - Parameters:
    ///   - count: The number of bodies.
    ///   - first: The number of the first URL.
    /// - Throws: An error if a response is not as expected.
    func fetch(_ count: Int, from first: Int) async throws -> Duration
}

/// The job of a client: a case, and the URLs and certificates of the server.
struct DownloadJob: Sendable {
    let downloadCase: DownloadCase
    /// The prefix of the URLs, which a number completes.
    let base: String
    /// The PEM file of the certificates to trust; nil for a server without TLS.
    let authorityFile: URL?

    func urls(_ count: Int, from first: Int) -> [URL] {
        (first..<first + count).compactMap { URL(string: "\(base)\($0)") }
    }

    func check(_ body: Data, from name: String) throws {
        guard body.count == downloadCase.byteCount else {
            throw BenchError(description: "\(name) received \(body.count) of \(downloadCase.byteCount) bytes")
        }
    }

    /// Calls `work` for each URL, with the concurrency of the case, and returns the duration.
    func time(_ urls: [URL], _ work: @escaping @Sendable (URL) async throws -> Void) async throws -> Duration {
        let each = try await BenchTable.microseconds(urls.count, concurrency: downloadCase.maxConcurrentRequests) {
            try await work(urls[$0])
        }
        return .microseconds(each * Double(urls.count))
    }
}

/// The libcurl transport without the downloader.
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
        options.maxConcurrentTransfers = job.downloadCase.connections
        options.version = job.downloadCase.wireProtocol == .multiplexed ? .automatic : .http1
        if let file = job.authorityFile { options.authorities = .file(file) }
        return options
    }
}

/// The downloader with its default configuration, except for the number of concurrent downloads.
struct DownloaderPeer: DownloadPeer {
    let job: DownloadJob
    let downloader: Downloader

    init(_ job: DownloadJob) {
        self.job = job
        let limit = job.downloadCase.maxConcurrentRequests
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
