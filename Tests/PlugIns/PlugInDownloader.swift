import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// A downloader over any transport. Equal requests share one transfer, and each caller can leave it.
actor PlugInDownloader: Downloading {
    /// The error of a response whose status is not successful.
    struct StatusError: HTTPResponseError {
        var head: HTTPResponseHead?
        var rejectedSource: ResponseSource? { nil }
    }

    /// The error of a source that has no bytes.
    struct SourceError: Error {}

    private struct Waiter {
        let continuation: CheckedContinuation<Download, any Error>
        let progress: (@Sendable (DownloadProgress) -> Void)?
    }

    private struct Transfer {
        let number: Int
        let task: Task<Void, Never>
        var waiters: [Int: Waiter] = [:]
    }

    private static let maximumByteCount = 64 << 20

    nonisolated let responseCache: (any ResponseCacheAccess)?
    private let transport: any HTTPTransport
    private var transfers: [HTTPRequest: Transfer] = [:]
    private var lastNumber = 0

    init(transport: any HTTPTransport, responseCache: (any ResponseCacheAccess)? = nil) {
        self.transport = transport
        self.responseCache = responseCache
    }

    nonisolated func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest {
        var request = request
        if request.fields["User-Agent"] == nil { request.fields["User-Agent"] = "PlugIn/1.0" }
        return request
    }

    func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        try Task.checkCancellation()
        guard case .http(let http) = request.source else {
            return Download(data: try await LocalSource.data(of: request.source))
        }
        let sent = addingDefaultFields(to: http)
        guard sent.method.isSafe else { return try await receive(sent, for: request) { progress?($0) } }
        let waiter = makeNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                join(sent, for: request, waiter, Waiter(continuation: continuation, progress: progress))
                // A cancellation before the waiter was added found none.
                if Task.isCancelled { leave(sent, waiter) }
            }
        } onCancel: {
            Task { await leave(sent, waiter) }
        }
    }

    private func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private func join(_ sent: HTTPRequest, for request: DownloadRequest, _ number: Int, _ waiter: Waiter) {
        if transfers[sent] == nil { transfers[sent] = begin(sent, for: request) }
        transfers[sent]?.waiters[number] = waiter
    }

    private func begin(_ sent: HTTPRequest, for request: DownloadRequest) -> Transfer {
        let number = makeNumber()
        let task = Task {
            do {
                let download = try await receive(sent, for: request) { await self.report($0, of: sent) }
                finish(sent, number, .success(download))
            } catch {
                finish(sent, number, .failure(error))
            }
        }
        return Transfer(number: number, task: task)
    }

    private func report(_ progress: DownloadProgress, of sent: HTTPRequest) {
        for waiter in transfers[sent]?.waiters.values.map(\.progress) ?? [] { waiter?(progress) }
    }

    private func finish(_ sent: HTTPRequest, _ number: Int, _ result: Result<Download, any Error>) {
        guard let transfer = transfers[sent], transfer.number == number else { return }
        transfers[sent] = nil
        for waiter in transfer.waiters.values { waiter.continuation.resume(with: result) }
    }

    private func leave(_ sent: HTTPRequest, _ number: Int) {
        guard let waiter = transfers[sent]?.waiters.removeValue(forKey: number) else { return }
        if let transfer = transfers[sent], transfer.waiters.isEmpty {
            transfers[sent] = nil
            transfer.task.cancel()
        }
        waiter.continuation.resume(throwing: CancellationError())
    }

    private nonisolated func receive(
        _ sent: HTTPRequest, for request: DownloadRequest,
        report: @escaping @Sendable (DownloadProgress) async -> Void
    ) async throws -> Download {
        try await request.admission?()
        let response = try await transport.sendFollowingRedirects(sent)
        guard (200..<300).contains(response.head.status) else {
            response.body.cancel()
            throw StatusError(head: response.head)
        }
        var data = Data()
        let expected = response.head.fields["Content-Length"].flatMap { Int($0) }
        for try await piece in response.body {
            guard piece.count <= Self.maximumByteCount - data.count else {
                response.body.cancel()
                throw HTTPTransportError(.bodyTooLarge, "the content exceeds \(Self.maximumByteCount) bytes")
            }
            request.onBytes?(data.count, piece)
            data += piece
            await report(DownloadProgress(received: data.count, expected: expected))
        }
        return Download(data: data, response: response)
    }
}

/// The sources that are not servers.
private enum LocalSource {
    static func data(of source: ImageSource) async throws -> Data {
        switch source {
        case .file(let path): try Data(contentsOf: URL(filePath: path))
        case .dataURL(let text): try decode(text)
        case .bytes(let data, _): data
        case .provider(_, let provide): try await provide()
        case .http, .image, .imageProvider, .url: throw PlugInDownloader.SourceError()
        }
    }

    private static func decode(_ text: String) throws -> Data {
        guard let comma = text.firstIndex(of: ",") else { throw PlugInDownloader.SourceError() }
        let content = text[text.index(after: comma)...]
        if text[..<comma].hasSuffix(";base64") {
            guard let data = Data(base64Encoded: String(content)) else { throw PlugInDownloader.SourceError() }
            return data
        }
        var data = Data()
        var rest = content.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                rest = rest.dropFirst(2)
                data.append(value)
            } else {
                data.append(byte)
            }
        }
        return data
    }
}
