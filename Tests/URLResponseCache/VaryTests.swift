import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 4.1.
@Suite(.timeLimit(.minutes(3)))
struct VaryTests {
    private let bench = Bench()

    @Test(
        arguments: [
            (["Accept": "a"], ["Accept": "a"], true), (["Accept": "a"], ["accept": "a"], true),
            (["Accept": "a"], ["Accept": "b"], false), (["Accept": "a"], [:], false), ([:], ["Accept": "a"], false),
            ([:], [:], true), (["Accept": "a", "accept": "b"], ["Accept": "a, b"], true),
            (["Accept": "a", "X": "1"], ["Accept": "a", "X": "2"], true), (["Accept": "a"], ["Accept": "A"], false),
            (["Accept": "a", "Foo": "1"], ["Accept": "a"], false),
        ] as [(HTTPFields, HTTPFields, Bool)])
    func `an answer is for requests with the same named fields`(
        first: HTTPFields, second: HTTPFields, isServed: Bool
    ) async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60", "Vary": "accept,Foo"])
        try await bench.send(first)
        bench.server.answer(200, [:])

        let answer = try await bench.send(second)

        #expect(answer.isHit == isServed)
        if !isServed { #expect(answer.cacheStatus == "alcedo; fwd=vary-miss; fwd-status=200") }
    }

    @Test func `variants stand beside each other, and no more than sixteen`() async throws {
        for index in 0..<20 {
            bench.server.answer(200, ["Cache-Control": "max-age=60", "Vary": "Accept"], body: "\(index)")
            try await bench.send(["Accept": "\(index)"])
            bench.clock.advance(1)
        }

        for index in 4..<20 { #expect(try await bench.send(["Accept": "\(index)"]).body == "\(index)") }
        #expect(bench.server.requests.count == 20)
        #expect(await bench.store.responses(for: Bench.url).count == 16)
    }

    @Test func `of several that fit the newest is served`() async throws {
        bench.server.answer(200, ["Cache-Control": "max-age=60", "Vary": "Accept"], body: "old")
        try await bench.send(["Accept": "a"])
        bench.clock.advance(1)
        bench.server.answer(200, ["Cache-Control": "max-age=60"], body: "new")
        try await bench.send(["Accept": "b"])

        #expect(try await bench.send(["Accept": "a"]).body == "new")
    }
}
