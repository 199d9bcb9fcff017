import AlcedoTesting
import TestSupport

/// The resources of a test's data caches: a directory, and a Redis server if needed. Both are removed with this object.
final class BackendResources: Sendable {
    let directory: TemporaryDirectory
    private let server = Watched<RedisServer?>(nil)

    init() throws { directory = try TemporaryDirectory() }

    /// Returns the socket of a separate Redis server.
    func redis() async throws -> String {
        let new = try await RedisServer()
        server.update { $0 = new }
        return new.socket
    }
}
