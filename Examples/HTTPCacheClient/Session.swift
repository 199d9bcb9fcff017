import AlcedoCore
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRuntime
import Dispatch
import FoundationEssentials

/// One run: calls are read, answered side by side, and their answers written as they come.
struct Session: Sendable {
    /// Most calls under way; more of them wait in standard input.
    static let maximumOutstanding = 64
    /// How long calls may go on after the end of standard input.
    private static let grace = Duration.seconds(3)

    private let client: CallClient
    private let writer = AnswerWriter()

    init(transport: any HTTPTransport) { client = CallClient(transport: transport) }

    /// Returns when standard input has ended and all that was asked has been answered.
    func run() async {
        writer.write(Hello())
        let reader = LineReader(ahead: Self.maximumOutstanding)
        let (end, signal) = AsyncStream.makeStream(of: Never.self)
        let work = Task {
            await withDiscardingTaskGroup { group in
                for await line in reader.lines {
                    group.addTask { await handle(line) { reader.makeRoom() } }
                }
                signal.finish()
            }
        }
        for await _ in end {}
        let timer = Task {
            try await Task.sleep(for: Self.grace)
            work.cancel()
        }
        await work.value
        timer.cancel()
        await writer.flush()
    }

    /// Answers one line. `done` is called when the answer has been written, or when there will be none.
    private func handle(_ line: LineCutter.Line, done: @escaping @Sendable () -> Void) async {
        switch line {
        case .tooLong(let limit):
            Console.problem("http-cache-client: a line of more than \(limit) bytes was skipped")
            done()
        case .text(let text):
            do throws(CallError) {
                writer.write(await client.answer(to: try Call(line: text)), then: done)
            } catch {
                if let id = error.id {
                    writer.write(Answer(id: id, outcome: .failure(error.message, kind: "invalidCall")), then: done)
                } else {
                    Console.problem("http-cache-client: \(error.message)")
                    done()
                }
            }
        }
    }
}

/// Makes calls over a transport.
private struct CallClient: Sendable {
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
            return .failure(error.description, kind: error.code == .timedOut ? "timeout" : error.code.rawValue)
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
