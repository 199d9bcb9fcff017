import FoundationEssentials
import Synchronization

/// A body that is in memory already.
final class DataBodySource: HTTPBodySource {
    private let rest: Mutex<Data?>

    init(_ data: Data) { rest = Mutex(data.isEmpty ? nil : data) }

    func next() async throws -> Data? {
        rest.withLock { rest in
            defer { rest = nil }
            return rest
        }
    }

    func cancel() { rest.withLock { $0 = nil } }
}
