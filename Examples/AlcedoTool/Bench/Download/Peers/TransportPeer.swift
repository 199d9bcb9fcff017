import Alcedo
import FoundationEssentials

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
