import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// Returns the bytes of a closure, and records its requests.
struct FakeDownloader: Downloading {
    typealias Progress = @Sendable (DownloadProgress) -> Void

    let requests = Watched<[DownloadRequest]>([])
    var responseCache: (any ResponseCacheAccess)?
    let respond: @Sendable (DownloadRequest, Progress) async throws -> Download

    init(_ respond: @escaping @Sendable (DownloadRequest, Progress) async throws -> Download) { self.respond = respond }

    /// Always returns these bytes, as from a server with these fields.
    init(giving data: Data, fields: HTTPFields? = nil) {
        self.init { request, _ in
            guard let fields, case .http(let http) = request.source else { return Download(data: data) }
            return Download(data: data, head: HTTPResponseHead(url: http.url, status: 200, fields: fields))
        }
    }

    var count: Int { requests.value.count }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        requests.update { $0.append(request) }
        return try await respond(request) { progress?($0) }
    }
}

extension FakeTransport {
    /// A transport without a network.
    static let offline = FakeTransport { _ in throw HTTPTransportError(.offline, "there is no network here") }
}
