import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A server with prepared responses that records its requests. Without a response it is unreachable.
final class ScriptedTransport: HTTPTransport {
    typealias Response = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var responses: [Response] = []
        var requests: [HTTPRequest] = []
    }

    private let state = Locked(State())

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func respond(_ respond: @escaping Response) { state.withLock { $0.responses.append(respond) } }

    func respond(_ status: Int = 200, _ fields: HTTPFields = [:], body: String = "body") {
        respond { request in
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(Data(body.utf8)))
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = state.withLock { state -> Response? in
            state.requests.append(request)
            return state.responses.isEmpty ? nil : state.responses.removeFirst()
        }
        guard let response else { throw HTTPTransportError(.cannotConnect, "no response is prepared") }
        return try await response(request)
    }
}
