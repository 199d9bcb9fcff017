import AlcedoCore
import FoundationEssentials

/// A body with bytes before it.
final class PrefixedBodySource: HTTPBodySource {
    private let body: HTTPBody
    private let prefix: Locked<Data?>

    init(_ prefix: Data, before body: HTTPBody) {
        self.prefix = Locked(prefix.isEmpty ? nil : prefix)
        self.body = body
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        if let first = prefix.withLock({ $0.take() }) { return first }
        var iterator = body.makeAsyncIterator()
        return try await iterator.next()
    }

    func cancel() { body.cancel() }
}
