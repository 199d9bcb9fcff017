import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The line protocol: order, concurrency, invalid lines, timeouts, end.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ProtocolTests {
    @Test func `responses are written as they finish`() async throws {
        let origin = try LoopbackOrigin(replies: [
            "/slow": .text("slow").stalling(at: .beforeHead), "/half": .text("half").stalling(at: .afterBody(2)),
            "/quick": .text("quick"),
        ])
        defer { origin.stop() }
        let client = try Conversation()

        try client.call(CallLine(1, origin.url(for: "/slow")))
        try client.call(CallLine(2, origin.url(for: "/half")))
        try await origin.waitForStalls(count: 2)
        let quick = try await client.response(to: CallLine(3, origin.url(for: "/quick")))
        #expect(quick.text == "quick")
        origin.release()
        let slow = [try await client.response(), try await client.response()]

        #expect(Set(slow.map { $0?.id }) == [1, 2])
        #expect(Set(slow.map { $0?.text }) == ["slow", "half"])
        #expect(try await client.end().status == 0)
    }

    @Test func `many calls run concurrently, and more wait`() async throws {
        let origin = try LoopbackOrigin { .text($0.target).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let client = try Conversation()

        for number in 0..<80 { try client.call(CallLine(number, origin.url(for: "/\(number)"))) }
        try await origin.waitForStalls(count: 64)
        #expect(origin.requests.count == 64)
        origin.release()
        var seen: Set<Int> = []
        for _ in 0..<64 { seen.insert(try #require(try await client.response()?.id)) }
        try await origin.waitForStalls(count: 16)
        origin.release()
        for _ in 0..<16 { seen.insert(try #require(try await client.response()?.id)) }

        #expect(seen == Set(0..<80))
    }

    @Test(arguments: [OriginReply.Position.beforeHead, .afterBody(0), .afterBody(2)])
    func `a call that takes too long times out`(position: OriginReply.Position) async throws {
        let origin = try LoopbackOrigin(replies: [
            "/slow": .text("slow").stalling(at: position), "/quick": .text("quick"),
        ])
        defer { origin.stop() }
        let client = try Conversation()
        var slow = CallLine(1, origin.url(for: "/slow"))
        slow.timeout_ms = 300

        let response = try await client.response(to: slow)

        #expect(response.error_kind == "timeout")
        #expect(response.status == nil)
        // The connection is closed, and the server's sending is stalled until then.
        origin.release()
        #expect(try await client.response(to: CallLine(2, origin.url(for: "/quick"))).text == "quick")
    }

    @Test func `an invalid call with an id receives an error response`() async throws {
        let client = try Conversation()
        let bad = [
            #"{"id":1}"#, #"{"id":2,"url":7}"#, #"{"id":3,"url":"http://127.0.0.1/","headers":[["a"]]}"#,
            #"{"id":4,"url":"http://127.0.0.1/","headers":{"a":"b"}}"#,
            #"{"id":5,"url":"http://127.0.0.1/","cache":"sometimes"}"#,
            #"{"id":6,"url":"http://127.0.0.1/","redirect":"perhaps"}"#,
            #"{"id":7,"op":"fly","url":"http://127.0.0.1/"}"#,
            #"{"id":8,"url":""}"#, #"{"id":9,"url":"ftp://127.0.0.1/"}"#, #"{"id":10,"url":"http://"}"#,
            #"{"id":11,"url":"http://127.0.0.1/","method":"A B"}"#,
            #"{"id":12,"url":"http://127.0.0.1/","headers":[["a\r\nb","c"]]}"#,
            #"{"id":13,"url":"http://127.0.0.1/","headers":[["a","€"]]}"#,
            #"{"id":14,"url":"http://127.0.0.1/","method":"HEAD","body":"x"}"#,
            #"{"id":15,"url":"\ud800"}"#,
        ]

        for line in bad { client.send(line) }
        var responses: [Int: ResponseLine] = [:]
        for _ in bad {
            let response = try #require(try await client.response())
            responses[try #require(response.id)] = response
        }

        for number in 1...bad.count { #expect(responses[number]?.error?.isEmpty == false, "\(bad[number - 1])") }
        let end = try await client.end()
        #expect(end.status == 0)
        #expect(end.problems == "")
    }

    @Test func `an unreadable line is reported on standard error, and other calls receive responses`() async throws {
        let origin = try LoopbackOrigin { .text($0.target) }
        defer { origin.stop() }
        let url = origin.url(for: "/").absoluteString
        let rubbish = [
            Data("rubbish".utf8), Data("{".utf8), Data("[]".utf8), Data("null".utf8), Data("17".utf8),
            Data(#"{"url":"\#(url)"}"#.utf8), Data(#"{"id":null,"url":"\#(url)"}"#.utf8),
            Data(#"{"id":1.5,"url":"\#(url)"}"#.utf8), Data(#"{"id":[],"url":"\#(url)"}"#.utf8),
            Data([0xFF, 0xFE, 0x00, 0x80]),
            Data([UInt8](repeating: 0, count: 100)),
            Data(String(repeating: "[", count: 200_000).utf8), Data(String(repeating: #"{"id":"#, count: 50_000).utf8),
        ]
        let good = Data(#"{"id":"the last","url":"\#(url)"}"#.utf8)
        // Empty lines, and a last line without a line break.
        let input = Data((rubbish + [Data(), Data(" \t\r".utf8), good]).joined(separator: Data("\n".utf8)))

        let outcome = try await Program(name: "http-cache-client").run([], input: input)

        #expect(outcome.status == 0)
        #expect(outcome.problems.filter { $0 == "\n" }.count == rubbish.count)
        #expect(outcome.problems.split(separator: "\n").allSatisfy { $0.hasPrefix("http-cache-client: ") })
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""hello""#) == true)
        #expect(lines.last?.contains(#""id":"the last""#) == true)
        #expect(lines.last?.contains(#""status":200"#) == true)
    }

    @Test func `calls finish after the end of the input`() async throws {
        let origin = try LoopbackOrigin { .text($0.target).stalling(at: .beforeHead) }
        defer { origin.stop() }
        let client = try Conversation()
        for number in 0..<10 { try client.call(CallLine(number, origin.url(for: "/\(number)"))) }
        try await origin.waitForStalls(count: 10)

        client.endInput()
        origin.release()
        let end = try await client.end()

        #expect(Set(end.responses.map(\.id)) == Set(0..<10))
        #expect(end.responses.allSatisfy { $0.status == 200 })
        #expect(end.status == 0)
        #expect(end.problems == "")
    }

    @Test func `the program does not wait forever after the end of the input`() async throws {
        let origin = try LoopbackOrigin { _ in .text("never").stalling(at: .beforeHead) }
        defer { origin.stop() }
        let client = try Conversation()
        try client.call(CallLine(1, origin.url(for: "/")))
        try await origin.waitForStalls()

        let end = try await client.end()

        #expect(end.responses.map(\.id) == [1])
        #expect(end.responses.first?.error_kind == "cancelled")
        #expect(end.status == 0)
    }

    @Test func `without input only the greeting is written`() async throws {
        let outcome = try await Program(name: "http-cache-client").run([])
        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        let hello = try JSONDecoder().decode(ResponseLine.self, from: Data(outcome.output.utf8)).hello
        #expect(hello?.name == "Alcedo")
        #expect(hello?.version == AlcedoVersion.text)
    }

    @Test func `the program refuses arguments`() async throws {
        let outcome = try await Program(name: "http-cache-client").run(["--serial"])
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.problems.hasPrefix("http-cache-client: arguments are not supported"))
    }
}
