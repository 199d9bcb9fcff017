import AlcedoTesting
import TestSupport
import Testing

@testable import thumbnail_server

@Suite(.timeLimit(.minutes(10)))
struct TimeLimitTests {
    @Test func `unfinished work is awaited up to the limit`() async {
        let (never, end) = AsyncStream.makeStream(of: Void.self)

        await TimeLimit.wait(for: .milliseconds(1)) { for await _ in never {} }

        end.finish()
    }

    @Test func `finished work is awaited no longer`() async {
        let hasEnded = Watched(false)

        await TimeLimit.wait(for: .seconds(86_400)) { hasEnded.update { $0 = true } }

        #expect(hasEnded.value)
    }
}
