import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct DescriptorTests {
    /// With the last of them there is a loop, and no descriptor for its socket.
    private static let spares = 0..<3

    @Test func `a transport that began without file descriptors works once some are available`() async throws {
        await #expect(processExitsWith: .success) {
            try Scarcity.limitDescriptors(to: 200)
            let origin = try LoopbackOrigin { _ in .text("hello") }
            defer { origin.stop() }
            let request = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
            // Kept, so that no descriptor becomes available.
            let transports = Self.spares.map { _ in CURLTransport() }
            for (spare, transport) in zip(Self.spares, transports) {
                await Scarcity.withDescriptors(spare) {
                    for _ in 0..<2 {
                        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
                        #expect(error?.code == .outOfDescriptors)
                    }
                }

                let body = try await transport.send(request).body.collect(limit: 100)
                #expect(body == Data("hello".utf8))
            }
        }
    }

    @Test func `without file descriptors all requests that wait for the start end, also canceled ones`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            try Scarcity.limitDescriptors(to: 200)
            let origin = try LoopbackOrigin { _ in .text("hello") }
            defer { origin.stop() }
            let request = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
            let transport = CURLTransport()
            await Scarcity.withDescriptors(0) {
                await withTaskGroup { group in
                    for number in 0..<100 {
                        group.addTask {
                            if number % 3 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                            await #expect(throws: (any Error).self) { try await transport.send(request) }
                        }
                    }
                }
            }

            #expect(try await transport.send(request).head.status == 200)
        }
    }
}
