import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// The two modes of `redirect`.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct FollowingTests {
    @Test(arguments: [301, 302, 303, 307, 308]) func `the mode follow returns the final response`(status: Int)
        async throws
    {
        let origin = try LoopbackOrigin { request in
            let hop = Int(request.path.dropFirst()) ?? 0
            return hop < 3 ? .redirect(to: "\(hop + 1)?q", status: status) : .text("end")
        }
        defer { origin.stop() }

        let response = try await Conversation().response(to: CallLine(1, origin.url(for: "/0")))

        #expect(response.status == 200)
        #expect(response.text == "end")
        #expect(origin.requests.map(\.target) == ["/0", "/1?q", "/2?q", "/3?q"])
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func `the mode manual returns the redirect`(status: Int) async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/elsewhere", status: status) }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/"))
        call.redirect = "manual"

        let response = try await Conversation().response(to: call)

        #expect(response.status == status)
        #expect(response.values("Location") == ["/elsewhere"])
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [(302, "GET"), (303, "GET"), (307, "POST")])
    func `a redirect changes the method as the standard requires`(status: Int, then: String) async throws {
        let origin = try LoopbackOrigin { $0.path == "/a" ? .redirect(to: "/b", status: status) : .text("end") }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/a"))
        call.method = "POST"
        call.body = "body"

        #expect(try await Conversation().response(to: call).text == "end")
        #expect(origin.requests.map(\.method.rawValue) == ["POST", then])
        #expect(origin.requests.last?.body.isEmpty == (then == "GET"))
    }

    @Test func `credentials are sent only to their origin`() async throws {
        let other = try LoopbackOrigin { _ in .text("end") }
        defer { other.stop() }
        let target = other.url(for: "/").absoluteString
        let origin = try LoopbackOrigin { _ in .redirect(to: target) }
        defer { origin.stop() }
        var call = CallLine(1, origin.url(for: "/"))
        call.headers = [["Authorization", "a"], ["Cookie", "b"], ["Host", "elsewhere.example"], ["X-A", "c"]]

        #expect(try await Conversation().response(to: call).text == "end")
        #expect(origin.requests.first?.fields["Host"] == "elsewhere.example")
        let seen = try #require(other.requests.first)
        #expect(seen.fields["Authorization"] == nil)
        #expect(seen.fields["Cookie"] == nil)
        #expect(seen.fields["Host"] == "127.0.0.1:\(other.port)")
        #expect(seen.fields["X-A"] == "c")
    }

    @Test func `a redirect loop is an error`() async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/again") }
        defer { origin.stop() }

        let response = try await Conversation().response(to: CallLine(1, origin.url(for: "/again")))

        #expect(response.error_kind == "redirect")
        #expect(origin.requests.count == 21)
    }

    @Test func `a redirect to another scheme is an error`() async throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "file:///etc/hostname") }
        defer { origin.stop() }
        #expect(try await Conversation().response(to: CallLine(1, origin.url)).error_kind == "redirect")
    }

    @Test func `a redirect without a target is returned as a response`() async throws {
        let origin = try LoopbackOrigin { _ in .status(302) }
        defer { origin.stop() }
        #expect(try await Conversation().response(to: CallLine(1, origin.url)).status == 302)
    }

    @Test func `each redirect is served through the cache`() async throws {
        let origin = try LoopbackOrigin { request in
            request.path == "/a"
                ? .redirect(to: "/b") : .text("end").setting("Cache-Control", "max-age=3600")
        }
        defer { origin.stop() }
        let client = try Conversation()

        for number in 1...2 {
            #expect(try await client.response(to: CallLine(number, origin.url(for: "/a"))).text == "end")
        }

        #expect(origin.requestCount(for: "/b") == 1)
    }
}
