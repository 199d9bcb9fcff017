import Alcedo
import FoundationEssentials

/// Passes a body on as it arrives, and counts its bytes.
struct CountedBody: HTTPBodySource {
    private let body: HTTPBody
    private let tally: ExchangeTally

    init(_ body: HTTPBody, _ tally: ExchangeTally) { (self.body, self.tally) = (body, tally) }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        let piece = try await iterator.next()
        if let piece { tally.change { $0.byteCount += piece.count } }
        return piece
    }

    func cancel() { body.cancel() }
}
