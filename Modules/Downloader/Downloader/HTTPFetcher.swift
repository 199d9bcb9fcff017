import AlcedoCore
import FoundationEssentials

/// One download from a server: redirects, status, limits, progress.
struct HTTPFetcher: Sendable {
    let transport: any HTTPTransport
    let maximumByteCount: Int
    let maximumRedirectCount: Int

    func fetch(
        _ request: HTTPRequest, report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Download {
        do {
            let response = try await RedirectFollower(transport, limit: maximumRedirectCount).send(request)
            if response.head.isRedirect {
                throw DownloadError(
                    .badRedirect, "the server redirects without saying where: \(response.head.url.absoluteString)")
            }
            guard response.head.isSuccess else {
                throw DownloadError(
                    .status(response.head.status),
                    "the server answered \(response.head.status) for \(response.head.url.absoluteString)")
            }
            return Download(
                data: try await read(response, report: report), head: response.head, caching: response.caching)
        } catch let error as RedirectError {
            throw DownloadError(.badRedirect, error.message, cause: error)
        } catch let error as HTTPTransportError {
            if error.code == .bodyTooLarge { throw DownloadError(.tooLarge, error.message, cause: error) }
            throw DownloadError(.transport(error.code), error.message, cause: error)
        }
    }

    private func read(
        _ response: HTTPResponse, report: @Sendable (DownloadProgress) -> Void
    ) async throws -> Data {
        let limit = maximumByteCount
        let declared = response.head.declaredBodyLength
        if let declared, declared > limit {
            throw DownloadError(.tooLarge, "the server declares \(declared) bytes, more than \(limit)")
        }
        report(DownloadProgress(received: 0, expected: declared))
        var whole = Data()
        // Believed only as far as a megabyte: the rest is reserved as it comes.
        whole.reserveCapacity(min(declared ?? 0, 1 << 20))
        for try await piece in response.body {
            guard piece.count <= limit - whole.count else {
                throw DownloadError(.tooLarge, "the content has more than \(limit) bytes")
            }
            whole.append(piece)
            report(DownloadProgress(received: whole.count, expected: declared))
        }
        if let declared, whole.count != declared {
            throw DownloadError(
                .transport(.connectionLost), "\(whole.count) of \(declared) declared bytes have arrived")
        }
        return whole
    }
}
