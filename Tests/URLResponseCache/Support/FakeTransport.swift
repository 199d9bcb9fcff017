import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A server of prepared answers, which notes what it is asked. Without one it cannot be reached.
final class FakeTransport: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private struct State {
        var answers: [Answer] = []
        var requests: [HTTPRequest] = []
    }

    private let state = Locked(State())

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answers.append(answer) } }

    func answer(_ status: Int = 200, _ fields: HTTPFields = [:], body: String = "body") {
        answer { request in
            HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status, fields: fields),
                body: HTTPBody(Data(body.utf8)))
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = state.withLock { state -> Answer? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw HTTPTransportError(.cannotConnect, "no answer is prepared") }
        return try await answer(request)
    }
}
