import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoPipeline

@Suite(.timeLimit(.minutes(10)))
struct EncodedByteTurnsTests {
    @Test func `a group without bytes goes before one whose bytes wait for a decoder`() async throws {
        let turns = DecodingTurns(maxConcurrentPerGroup: 1) { $0.url?.host() }
        let budget = EncodedByteBudget(limit: 100, turns: turns)
        func reservation(_ host: String) throws -> EncodedByteReservation {
            let url = try #require(URL(string: "https://\(host).test/"))
            return EncodedByteReservation(of: budget, for: ImageRequest(url: url))
        }
        let arrived = try [(60, reservation("a")), (40, reservation("a"))].map { $1.arrived($0) }
        let order = Watched<[String]>([])
        let waits = try ["a", "b"].map { host -> Task<Void, any Error> in
            let waiting = try reservation(host)
            return Task.immediate {
                try await waiting.waitForAdmission(PriorityHandle())
                order.update { $0.append(host) }
                waiting.release()
            }
        }

        // The rest has room for one of the two, whose expected size is more than half of the limit.
        arrived[0].release()
        for wait in waits { try await wait.value }

        #expect(order.value == ["b", "a"])
        withExtendedLifetime(arrived) {}
    }
}
