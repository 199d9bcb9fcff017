import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import FoundationEssentials

/// Sends pieces, then kills the process.
final class DeadlyBody: HTTPBodySource {
    private let pieces: ScriptedBody

    init(_ pieces: [Data]) { self.pieces = ScriptedBody(pieces) }

    func next() async throws -> Data? {
        if let piece = try await pieces.next() { return piece }
        kill(getpid(), SIGKILL)
        return nil
    }

    func cancel() {}
}
