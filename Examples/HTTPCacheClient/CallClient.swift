import AlcedoCore
import FoundationEssentials

/// Makes calls over a transport.
struct CallClient: Sendable {
    /// Most bytes of a body.
    private static let bodyLimit = 64 << 20
    /// Most redirects in a row, as in the Fetch standard.
    private static let redirectLimit = 20

    let transport: any HTTPTransport

    /// Never fails: what goes wrong is the answer.
    func answer(to call: Call) async -> Answer {
        Answer(id: call.id, outcome: await outcome(of: call))
    }

    private func outcome(of call: Call) async -> Answer.Outcome {
        do {
            return try await withTimeLimit(call.timeLimit) {
                let response = try await send(call)
                let body = try await response.body.collect(limit: Self.bodyLimit)
                return .response(
                    response.head, body: body, interim: response.interim, source: response.caching?.source)
            }
        } catch let error as HTTPTransportError {
            return .failure(error.message, kind: error.code == .timedOut ? "timeout" : error.code.rawValue)
        } catch let error as RedirectError {
            return .failure(error.message, kind: "redirect")
        } catch is CancellationError {
            return .failure("standard input has ended, and with it the time for this call", kind: "cancelled")
        } catch {
            return .failure("\(error)", kind: nil)
        }
    }

    private func send(_ call: Call) async throws -> HTTPResponse {
        guard call.followsRedirects else { return try await transport.send(call.request) }
        return try await RedirectFollower(transport, limit: Self.redirectLimit).send(call.request)
    }

    private func withTimeLimit(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Answer.Outcome
    ) async throws -> Answer.Outcome {
        try await withThrowingTaskGroup(of: Answer.Outcome.self) { group in
            group.addTask(operation: work)
            group.addTask {
                try await Task.sleep(for: limit)
                throw HTTPTransportError(.timedOut, "no whole answer within \(limit.milliseconds) milliseconds")
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}
