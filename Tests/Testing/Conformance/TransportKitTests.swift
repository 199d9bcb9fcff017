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
        case losesFieldsOfHEAD, closesConnections, answersForAnother, endsAreWhole, forgetsWhyItFailed
        case sendsLineEnds, takesAnyScheme, wrapsCancellation, cancelsUnasked, readsPastTheEnd, tellsNoMetrics
        case tellsTwoLengths

        var broken: Set<String> {
            switch self {
            case .losesAField: ["an answer arrives with its status, fields and bytes"]
            case .losesTheRequestBody: ["method, fields and body reach the server"]
            case .followsRedirects: ["a redirect is returned, not followed"]
            case .throwsOnMissing: ["no status is an error"]
            case .losesTheLastByteOfChunks:
                ["a chunked body arrives whole", "a length beside a transfer coding is not told"]
            case .tellsTwoLengths: ["a length beside a transfer coding is not told"]
            case .losesFieldsOfHEAD: ["HEAD has fields and no body"]
            case .closesConnections: ["connections are kept and used again"]
            case .answersForAnother: ["a hundred requests at once each get their own answer"]
            case .endsAreWhole:
                [
                    "a body shorter than declared is an error", "a connection cut in the body is an error",
                    "a chunked body that is cut is an error", "a chunk that is none is an error",
                    "a connection reset in the body is an error", "a transfer that does not end in time is an error",
                    "a server that falls silent in the body is an error after the idle timeout",
                ]
            case .forgetsWhyItFailed:
                [
                    "a body shorter than declared is an error", "a connection cut in the body is an error",
                    "a chunked body that is cut is an error", "a connection cut before the head is an error",
                    "a server that is not there is an error", "another scheme than HTTP is refused",
                    "a chunk that is none is an error", "a connection reset in the body is an error",
                    "a host without an address is an error",
                    "a length that is none, and two that differ, are errors",
                    "a server that stays silent is an error after the idle timeout",
                    "a server that falls silent in the body is an error after the idle timeout",
                    "an answer that does not begin in time is an error",
                    "a transfer that does not end in time is an error",
                    "a field with a line end in it is refused",
                ]
            case .sendsLineEnds: ["a field with a line end in it is refused"]
            case .takesAnyScheme: ["another scheme than HTTP is refused"]
            case .wrapsCancellation:
                [
                    "cancelling before the head ends the exchange with CancellationError",
                    "cancelling in the body ends the transfer with CancellationError",
                    "a task that is cancelled already sends nothing, or at least gets nothing",
                    "every request that is cancelled at random has exactly one outcome",
                ]
            case .readsPastTheEnd: ["a body longer than declared ends where it was declared"]
            case .tellsNoMetrics: ["an answer tells what it took when its body has ended"]
            case .cancelsUnasked:
                [
                    "a hundred requests at once each get their own answer",
                    "every request that is cancelled at random has exactly one outcome",
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

    @Test func `every check except those that wait fails for some fault`() {
        let unseen: Set<String> = [
            "the head arrives while the body is still on its way", "letting go of the body ends the transfer",
            "an endless body ends when its reader has had enough",
        ]
        let covered = Set(Fault.allCases.flatMap(\.broken))
        #expect(covered.union(unseen) == Set(TransportConformance.checks.map(\.description)))
        #expect(covered.isDisjoint(with: unseen))
    }
}
