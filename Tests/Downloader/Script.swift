import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// A transport that returns one response after another and records its requests. After the last it fails with
/// `shutDown`.
struct Script: HTTPTransport {
    enum Response: Sendable {
        /// A head and a body, which may be truncated with an error.
        case head(Int, HTTPFields, Data = Data(), failing: HTTPTransportError.Code? = nil)
        case failure(HTTPTransportError.Code)
        case cancellation
    }

    let requests = Watched<[HTTPRequest]>([])
    private let responses: Watched<ArraySlice<Response>>

    init(_ responses: [Response]) { self.responses = Watched(responses[...]) }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.update { $0.append(request) }
        switch responses.update({ $0.popFirst() }) ?? .failure(.shutDown) {
        case .head(let status, let fields, let slice, let failing):
            let data = Data(slice)
            let pieces = stride(from: 0, to: data.count, by: 1_000).map { data[$0..<min($0 + 1_000, data.count)] }
            let body = ScriptedBody(pieces.map { Data($0) }, end: failing.map { HTTPTransportError($0, "it broke") })
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields), body: HTTPBody(body))
        case .failure(let code): throw HTTPTransportError(code, "it failed")
        case .cancellation: throw CancellationError()
        }
    }

    var ranges: [String?] { requests.value.map { $0.fields["Range"] } }
}

/// Sends pieces, then ends or fails.
final class ScriptedBody: HTTPBodySource {
    private let pieces: Watched<ArraySlice<Data>>
    private let end: (any Error)?

    init(_ pieces: [Data], end: (any Error)? = nil) {
        self.pieces = Watched(pieces[...])
        self.end = end
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        if let piece = pieces.update({ $0.popFirst() }) { return piece }
        if let end { throw end }
        return nil
    }

    func cancel() {}
}

/// Returns bytes that differ between positions.
func sample(_ count: Int, seed: UInt64 = 1) -> Data {
    var generator = SeededGenerator(seed: seed)
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
}

extension HTTPFetcher {
    /// With random numbers that are all one half, and delays that take no time and are recorded.
    static func make(
        _ transport: any HTTPTransport, clock: any TimeSource = ManualClock(),
        _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) -> HTTPFetcher {
        var configuration = DownloaderConfiguration()
        change(&configuration)
        return HTTPFetcher(transport: transport, configuration: configuration, clock: clock, random: { 0.5 })
    }

    func fetch(_ text: String, pauses: Watched<[Duration]>? = nil) async throws -> Download {
        let result = try await fetch(
            HTTPRequest(url: try #require(URL(string: text)), idleTimeout: .seconds(120)),
            pause: TransferPause { wait, network in
                pauses?.update { $0.append(wait) }
                return try await network?.run() ?? true
            }, report: { _ in })
        return Download(result)
    }
}

extension DownloaderConfiguration {
    /// With three attempts.
    mutating func retries(_ attempts: Int = 3) { retry = RetryPolicy(maximumAttempts: attempts) }
}
