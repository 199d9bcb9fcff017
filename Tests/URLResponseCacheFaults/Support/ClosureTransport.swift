import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport

/// A server that is a closure, and notes what it is asked.
final class ClosureTransport: HTTPTransport {
    typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private let answer: Answer
    private let asked = Guarded<[HTTPRequest]>([])

    init(_ answer: @escaping Answer) { self.answer = answer }

    /// In the order of their arrival.
    var requests: [HTTPRequest] { asked.value }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        asked.change { $0.append(request) }
        return try await answer(request)
    }
}
