import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// A server with prepared responses, of which the last is repeated.
final class ScriptedServer: HTTPTransport {
    private let heads: [(Int, HTTPFields)]
    private let requests = Mutex(0)

    init(heads: [(Int, HTTPFields)]) { self.heads = heads }

    var requestCount: Int { requests.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let index = requests.withLock { requests in
            defer { requests += 1 }
            return requests
        }
        guard !heads.isEmpty else { throw HTTPTransportError(.cannotConnect, "no response") }
        let (status, fields) = heads[min(index, heads.count - 1)]
        return HTTPResponse(
            head: HTTPResponseHead(url: request.url, status: status, fields: fields),
            body: HTTPBody(Data("0123".utf8)))
    }
}
