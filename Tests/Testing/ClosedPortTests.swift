import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ClosedPortTests {
    private let rejection = RawClient.Errno(number: ECONNREFUSED)

    @Test func `connections are refused, and the port is not assigned to others`() throws {
        let nobody = try ClosedPort()
        defer { nobody.free() }
        #expect(nobody.url.absoluteString == "http://127.0.0.1:\(nobody.port)")

        for _ in 0..<50 {
            let other = try LoopbackOrigin { _ in .status(204) }
            defer { other.stop() }
            #expect(other.port != nobody.port)
            #expect(throws: rejection) { try RawClient(port: nobody.port) }
        }
    }

    @Test func `a free port is closed once`() throws {
        let nobody = try ClosedPort()
        for _ in 0..<2 { nobody.free() }
        // A second close would close the descriptor that has the number now.
        let other = try LoopbackOrigin { _ in .status(204) }
        defer { other.stop() }
        nobody.free()
        let client = try RawClient(port: other.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.receive(exactly: 12) == "HTTP/1.1 204")
    }
}
