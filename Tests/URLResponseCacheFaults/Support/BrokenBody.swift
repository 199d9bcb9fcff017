import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport

/// A body that ends with an error after its pieces.
final class BrokenBody: HTTPBodySource {
    private let pieces: Watched<[Data]>
    private let error: any Error
    private let cancellations = Watched(0)

    init(_ pieces: String..., error: any Error = HTTPTransportError(.connectionLost, "cut")) {
        self.pieces = Watched(pieces.map { Data($0.utf8) })
        self.error = error
    }

    var isCancelled: Bool { cancellations.value > 0 }

    func next() async throws -> Data? {
        if let piece = pieces.update({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
        throw error
    }

    func cancel() { cancellations.update { $0 += 1 } }
}
