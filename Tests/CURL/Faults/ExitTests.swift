import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A process that exits while the transport's thread may still run.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ExitTests {
    /// OpenSSL's initialization function, or nil where libcurl uses another library.
    private static var initialize: (@convention(c) (UInt64, UnsafeRawPointer?) -> Int32)? {
        dlsym(nil, "OPENSSL_init_crypto").map {
            unsafeBitCast($0, to: (@convention(c) (UInt64, UnsafeRawPointer?) -> Int32).self)
        }
    }

    @Test(.enabled(if: ExitTests.initialize != nil, "libcurl does not use OpenSSL"))
    func `at exit OpenSSL is left to the thread that may use it`() async {
        await #expect(processExitsWith: .success) {
            // Runs after the handlers registered later. OpenSSL refuses to initialize again after it was freed.
            atexit { if let initialize = ExitTests.initialize, initialize(0, nil) != 1 { _exit(1) } }
            let origin = try LoopbackOrigin { _ in .text("x") }
            let response = try await CURLTransport().send(HTTPRequest(url: origin.url(for: "/")))
            #expect(try await response.body.collect(limit: 10).count == 1)
        }
    }
}
