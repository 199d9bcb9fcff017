import AlcedoCURL
import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import Testing

/// A kit that cannot fail proves nothing, so each of these transports has one fault.
///
/// Not tested: a transport that waits forever instead of failing. The kit waits with it until the test's time limit.
@Suite(.timeLimit(.minutes(10)))
struct TransportKitTests {
    enum Fault: CaseIterable {
        case losesAField, losesTheRequestBody, followsRedirects, throwsOnMissing, losesTheLastByteOfChunks
        case losesFieldsOfHEAD, closesConnections, respondsForAnother, endsAreWhole, forgetsWhyItFailed
        case sendsLineEnds, takesAnyScheme, wrapsCancellation, cancelsUnrequested, readsPastTheEnd, tellsMetricsEarly
        case tellsTwoLengths, keepsBodies, keepsHeads

        var broken: Set<String> {
            switch self {
            case .losesAField: ["a response arrives with its status, fields and body"]
            case .losesTheRequestBody: ["the method, fields and body reach the server"]
            case .followsRedirects: ["a redirect is returned, not followed"]
            case .throwsOnMissing: ["an error status is returned as a response"]
            case .losesTheLastByteOfChunks:
                ["a chunked body arrives completely", "a Content-Length beside a Transfer-Encoding is removed"]
            case .tellsTwoLengths: ["a Content-Length beside a Transfer-Encoding is removed"]
            case .losesFieldsOfHEAD: ["a response to HEAD has fields and no body"]
            case .closesConnections: ["connections are reused"]
            case .respondsForAnother: ["each of a hundred concurrent requests receives its own response"]
            case .endsAreWhole:
                [
                    "a body shorter than declared throws an error", "a connection closed in the body throws an error",
                    "a truncated chunked body throws an error", "an invalid chunk throws an error",
                    "a connection reset in the body throws an error",
                    "a transfer beyond the total timeout throws an error",
                    "a server that stalls in the body causes an idle timeout",
                ]
            case .forgetsWhyItFailed:
                [
                    "a body shorter than declared throws an error", "a connection closed in the body throws an error",
                    "a truncated chunked body throws an error", "a connection closed before the head throws an error",
                    "a refused connection throws an error", "a scheme other than HTTP is rejected",
                    "an invalid chunk throws an error", "a connection reset in the body throws an error",
                    "a host name without an address throws an error",
                    "an invalid Content-Length and two different ones throw errors",
                    "a server that sends nothing causes an idle timeout",
                    "a server that stalls in the body causes an idle timeout",
                    "a response after the first-byte timeout throws an error",
                    "a transfer beyond the total timeout throws an error",
                    "a field with a line break is rejected",
                ]
            case .sendsLineEnds: ["a field with a line break is rejected"]
            case .takesAnyScheme: ["a scheme other than HTTP is rejected"]
            case .wrapsCancellation:
                [
                    "canceling before the head ends the request with CancellationError",
                    "canceling in the body ends the transfer with CancellationError",
                    "a task that is already canceled receives no response",
                    "each randomly canceled request has exactly one outcome",
                ]
            case .readsPastTheEnd: ["a body longer than declared ends at the declared length"]
            case .tellsMetricsEarly: ["metrics, if the transport measures them, are available when the body has ended"]
            case .cancelsUnrequested:
                [
                    "each of a hundred concurrent requests receives its own response",
                    "each randomly canceled request has exactly one outcome",
                ]
            case .keepsBodies:
                ["releasing the body ends the transfer", "an endless body ends when its reader stops"]
            case .keepsHeads:
                [
                    "the head is returned before the body is complete",
                    "metrics, if the transport measures them, are available when the body has ended",
                ]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a transport with one fault fails the checks of that fault`(fault: Fault) async {
        var failed: Set<String> = []
        // One after another, because each has a server and a client with a thread.
        for check in TransportConformance.checks {
            failed.formUnion(await failures(of: [check]) { _ in FaultyTransport(fault) })
        }
        #expect(failed == fault.broken)
    }

    @Test func `each check of the kit fails for some fault`() {
        #expect(Set(Fault.allCases.flatMap(\.broken)) == Set(TransportConformance.checks.map(\.description)))
    }
}
