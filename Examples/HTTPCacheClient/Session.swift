import AlcedoCore
import Dispatch
import ExampleSupport
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
