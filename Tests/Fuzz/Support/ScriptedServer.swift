import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// A server whose answers are known beforehand; the last one is given again and again.
final class ScriptedServer: HTTPTransport {
    private let heads: [(Int, HTTPFields)]
    private let asked = Mutex(0)

    init(heads: [(Int, HTTPFields)]) { self.heads = heads }

    var questionCount: Int { asked.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let index = asked.withLock { asked in
            defer { asked += 1 }
            return asked
        }
        guard !heads.isEmpty else { throw HTTPTransportError(.cannotConnect, "no answer") }
        let (status, fields) = heads[min(index, heads.count - 1)]
        return HTTPResponse(
            head: HTTPResponseHead(url: request.url, status: status, fields: fields),
            body: HTTPBody(Data("0123".utf8)))
    }
}
