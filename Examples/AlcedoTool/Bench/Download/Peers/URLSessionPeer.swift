import Foundation
import FoundationNetworking

/// `URLSession` with async calls. It knows only the system's authorities, so it has no part in TLS here.
struct URLSessionPeer: DownloadPeer {
    let job: DownloadJob
    private let session: URLSession

    init?(_ job: DownloadJob) {
        guard job.what.wire == .plain else { return nil }
        self.job = job
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = job.what.connections
        session = URLSession(configuration: configuration)
    }

    func fetch(_ count: Int, from first: Int) async throws -> Duration {
        try await job.time(job.urls(count, from: first)) { url in
            try job.check(try await session.data(for: URLRequest(url: url)).0, from: "URLSession")
        }
    }
}
