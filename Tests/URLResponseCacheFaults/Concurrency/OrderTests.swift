import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Responses that overtake one another, and changes that overtake responses. RFC 9111 sections 4 and 4.4.
@Suite(.timeLimit(.minutes(10)))
struct OrderTests {
    private let gate = Gate()
    private let clock = ManualClock()
    private let server: FakeTransport
    private let cache: CachingTransport

    /// The request controls the server: `X-Slow` sends head or body through the gate, `X-Says` is the body, `X-Vary`
    /// the response's `Vary`, and `X-Location` the location in the response to a POST.
    init() {
        server = FakeTransport { [gate] request in
            let says = request.fields["X-Says"] ?? "now"
            var fields = ["Cache-Control": "max-age=600"] as HTTPFields
            fields["Vary"] = request.fields["X-Vary"]
            fields["Location"] = request.fields["X-Location"]
            if request.fields["X-Forbids"] != nil { fields["Cache-Control"] = "no-store" }
            switch request.fields["X-Slow"] {
            case "head":
                await gate.pass()
                return HTTPResponse(request, fields, says)
            case "body": return HTTPResponse(request, fields, HTTPBody(GatedBody(says, gate)))
            default: return HTTPResponse(request, fields, says)
            }
        }
        cache = CachingTransport(wrapping: server, store: MemoryResponseStore(), clock: clock)
    }

    /// A body that waits at a gate before its end.
    private final class GatedBody: HTTPBodySource {
        private let gate: Gate
        private let text: Watched<String?>

        init(_ text: String, _ gate: Gate) {
            (self.text, self.gate) = (Watched(text), gate)
        }

        func next() async throws -> Data? {
            let text = text.update { text in
                defer { text = nil }
                return text
            }
            if let text { return Data(text.utf8) }
            await gate.pass()
            return nil
        }

        func cancel() {}
    }

    private func get(_ fields: HTTPFields = [:], isReload: Bool = true, page: String = "a") async throws -> String {
        let policy: HTTPCachePolicy = isReload ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy
        return try await cache.send(HTTPRequest(url: .page(page), fields: fields, cachePolicy: policy)).text()
    }

    /// Returns the response to a plain request at this time.
    private func now(_ fields: HTTPFields = [:]) async throws -> String { try await get(fields, isReload: false) }

    @Test(arguments: ["head", "body"])
    func `a response in flight while its resource changed is not stored`(slow: String) async throws {
        let old = Task { try await get(["X-Slow": slow, "X-Says": "old"]) }
        await gate.arrivals()
        _ = try await cache.send(HTTPRequest(method: .post, url: .page(), body: Data("x".utf8))).text()
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "now")
    }

    @Test func `a response in flight while a URL named by a change's response is invalidated is not stored`()
        async throws
    {
        let old = Task { try await get(["X-Slow": "body", "X-Says": "old"]) }
        await gate.arrivals()
        _ = try await cache.send(
            HTTPRequest(method: .post, url: .page("b"), fields: ["X-Location": "/a"], body: Data("x".utf8))
        ).text()
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "now")
    }

    @Test func `a change of another resource has no effect`() async throws {
        let old = Task { try await get(["X-Slow": "body", "X-Says": "old"]) }
        await gate.arrivals()
        _ = try await cache.send(HTTPRequest(method: .post, url: .page("b"), body: Data("x".utf8))).text()
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "old")
    }

    @Test(arguments: ["head", "body"])
    func `a slow old response does not replace a newer one`(slow: String) async throws {
        let old = Task { try await get(["X-Slow": slow, "X-Says": "old"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "new")
    }

    @Test(arguments: ["head", "body"])
    func `a slow old response that varies does not replace a newer one that does not`(slow: String) async throws {
        let old = Task { try await get(["X-Slow": slow, "X-Says": "old", "X-Vary": "Y"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "new")
    }

    @Test(arguments: ["head", "body"])
    func `a slow old response that does not vary does not replace a newer one that does`(slow: String) async throws {
        let old = Task { try await get(["X-Slow": slow, "X-Says": "old"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new", "X-Vary": "Y"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "new")
    }

    @Test func `a slow old response does not replace a newer one that varies by other fields`() async throws {
        let old = Task { try await get(["X-Slow": "body", "X-Says": "old", "X-Vary": "Y"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new", "X-Vary": "Z"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "new")
    }

    @Test func `a slow response to a different request is stored beside a newer one`() async throws {
        let old = Task { try await get(["X-Slow": "body", "X-Says": "old", "X-Vary": "Y", "Y": "1"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new", "X-Vary": "Y", "Y": "2"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now(["Y": "1"]) == "old")
        #expect(try await now(["Y": "2"]) == "new")
    }

    @Test func `a response that forbids storing does not remove a newer one`() async throws {
        _ = try await get(["X-Says": "older"])
        let old = Task { try await get(["X-Slow": "head", "X-Says": "old", "X-Forbids": "1"]) }
        await gate.arrivals()
        #expect(try await get(["X-Says": "new"]) == "new")
        gate.open()
        #expect(try await old.value == "old")

        #expect(try await now() == "new")
    }

    @Test func `concurrent requests and changes end with a complete stored response`() async throws {
        await withTaskGroup { group in
            for index in 0..<300 {
                group.addTask {
                    let page = "\(index % 3)"
                    if index % 7 == 0 {
                        _ = try? await cache.send(
                            HTTPRequest(method: .post, url: .page(page), body: Data("x".utf8))
                        ).text()
                    } else {
                        let vary = ["Y", "Z", nil][index % 3]
                        var fields = ["X-Says": "\(index)", "Y": "\(index % 2)"] as HTTPFields
                        fields["X-Vary"] = vary
                        let text = try? await get(fields, isReload: index % 2 == 0, page: page)
                        #expect(text.flatMap { Int($0) } != nil)
                    }
                }
            }
        }
        for page in ["0", "1", "2"] {
            _ = try await get(["X-Says": "last"], page: page)
            #expect(try await get([:], isReload: false, page: page) == "last")
        }
    }
}
