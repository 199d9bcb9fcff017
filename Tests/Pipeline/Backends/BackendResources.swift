import TestSupport

/// Where a test's data caches are: a folder, and a Redis when one is wanted. Both go with this object.
final class BackendResources: Sendable {
    let directory: TemporaryDirectory
    private let server = Guarded<RedisServer?>(nil)

    init() throws { directory = try TemporaryDirectory() }

    /// The socket of a Redis of its own.
    func redis() async throws -> String {
        let new = try await RedisServer()
        server.change { $0 = new }
        return new.socket
    }
}
