import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A body of given pieces that may throw an error once before its end.
final class PiecewiseBody: HTTPBodySource {
    private let pieces: Locked<[Data]>
    private let error: Locked<HTTPTransportError?>
    private let cancelled = Locked(false)

    init(_ pieces: [String], error: HTTPTransportError? = nil) {
        self.pieces = Locked(pieces.map { Data($0.utf8) })
        self.error = Locked(error)
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }

    func next() async throws -> Data? {
        if let piece = pieces.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
        if let error = error.withLock({ $0.take() }) { throw error }
        return nil
    }

    func cancel() { cancelled.withLock { $0 = true } }
}
