import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@Suite struct HTTPRequestTests {
    private func request(idle: Duration, firstByte: Duration?, total: Duration?) throws -> HTTPRequest {
        HTTPRequest(
            url: try #require(URL(string: "http://h/")), idleTimeout: idle, firstByteTimeout: firstByte,
            totalTimeout: total)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a timeout of zero or less is the default`(none: Duration) throws {
        var request = try request(idle: none, firstByte: none, total: none)
        #expect(request.idleTimeout == .seconds(15))
        #expect(request.firstByteTimeout == nil)
        #expect(request.totalTimeout == nil)
        #expect(request == HTTPRequest(url: request.url))

        (request.idleTimeout, request.firstByteTimeout, request.totalTimeout) = (.seconds(1), .seconds(2), .seconds(3))
        #expect(request.idleTimeout == .seconds(1))
        #expect(request.firstByteTimeout == .seconds(2))
        #expect(request.totalTimeout == .seconds(3))

        (request.idleTimeout, request.firstByteTimeout, request.totalTimeout) = (none, none, none)
        #expect(request == HTTPRequest(url: request.url))
    }
}
