import AlcedoCURL
import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import Testing

/// A kit that cannot fail proves nothing: each of these transports is broken in one way.
///
/// Not here: a transport that waits for ever instead of failing. The kit waits with it, until the test's time limit.
@Suite(.timeLimit(.minutes(10)))
struct TransportKitTests {
    enum Fault: CaseIterable {
        case losesAField, losesTheRequestBody, followsRedirects, throwsOnMissing, losesTheLastByteOfChunks
        case losesFieldsOfHEAD, closesConnections, answersForAnother, endsAreWhole, forgetsWhyItFailed
        case sendsLineEnds, takesAnyScheme, wrapsCancellation, cancelsUnasked, readsPastTheEnd, tellsNoMetrics
        case tellsTwoLengths

        var broken: Set<String> {
            switch self {
            case .losesAField: ["a response arrives with its status, fields and bytes"]
            case .losesTheRequestBody: ["method, fields and body reach the server"]
            case .followsRedirects: ["a redirect is returned, not followed"]
            case .throwsOnMissing: ["no status is an error"]
            case .losesTheLastByteOfChunks:
                ["a chunked body arrives completely", "a length beside a transfer coding is not reported"]
            case .tellsTwoLengths: ["a length beside a transfer coding is not reported"]
            case .losesFieldsOfHEAD: ["HEAD has fields and no body"]
            case .closesConnections: ["connections are kept and reused"]
            case .answersForAnother: ["a hundred concurrent requests each receive their own response"]
            case .endsAreWhole:
                [
                    "a body shorter than declared is an error", "a connection cut in the body is an error",
                    "a chunked body that is cut is an error", "an invalid chunk is an error",
                    "a connection reset in the body is an error", "a transfer that does not end in time is an error",
                    "a server that falls silent in the body is an error after the idle timeout",
                ]
            case .forgetsWhyItFailed:
                [
                    "a body shorter than declared is an error", "a connection cut in the body is an error",
                    "a chunked body that is cut is an error", "a connection cut before the head is an error",
                    "a missing server is an error", "a scheme other than HTTP is rejected",
                    "an invalid chunk is an error", "a connection reset in the body is an error",
                    "a host without an address is an error",
                    "an invalid length, and two different lengths, are errors",
                    "a silent server is an error after the idle timeout",
                    "a server that falls silent in the body is an error after the idle timeout",
                    "a response that does not begin in time is an error",
                    "a transfer that does not end in time is an error",
                    "a field that contains a line end is rejected",
                ]
            case .sendsLineEnds: ["a field that contains a line end is rejected"]
            case .takesAnyScheme: ["a scheme other than HTTP is rejected"]
            case .wrapsCancellation:
                [
                    "cancelling before the head ends the exchange with CancellationError",
                    "cancelling in the body ends the transfer with CancellationError",
                    "a task that is already cancelled receives no response",
                    "a request that is cancelled at a random time has exactly one outcome",
                ]
            case .readsPastTheEnd: ["a body longer than declared ends at the declared length"]
            case .tellsNoMetrics: ["a response has its metrics when its body has ended"]
            case .cancelsUnasked:
                [
                    "a hundred concurrent requests each receive their own response",
                    "a request that is cancelled at a random time has exactly one outcome",
                ]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a transport that is broken in one way fails the checks of that`(fault: Fault) async {
        var failed: Set<String> = []
        // One after another: each has a server and a client with a thread.
        for check in TransportConformance.checks {
            failed.formUnion(await failures(of: [check]) { _ in FaultyTransport(fault) })
        }
        #expect(failed == fault.broken)
    }

    @Test func `every check but those of waiting is seen to fail`() {
        let unseen: Set<String> = [
            "the head arrives before the body", "releasing the body ends the transfer",
            "an endless body ends when its reader cancels",
        ]
        let covered = Set(Fault.allCases.flatMap(\.broken))
        #expect(covered.union(unseen) == Set(TransportConformance.checks.map(\.description)))
        #expect(covered.isDisjoint(with: unseen))
    }
}
