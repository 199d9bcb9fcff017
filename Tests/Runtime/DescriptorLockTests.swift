import AlcedoLibc
import AlcedoRuntime
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DescriptorLockTests {
    private let directory: TemporaryDirectory
    /// A descriptor that has the lock.
    private let holder: Int32

    init() throws {
        directory = try TemporaryDirectory()
        holder = creat(directory.path + "/lock", 0o600)
        try #require(flock(holder, LOCK_EX) == 0)
    }

    private func descriptor() throws -> Descriptor { try Descriptor(opening: directory.path + "/lock", O_RDWR) }

    @Test(arguments: [Duration.zero, .milliseconds(1)])
    func `a lock that another descriptor keeps is refused after the timeout`(timeout: Duration) throws {
        defer { close(holder) }
        let file = try descriptor()

        let isLocked = file.lock(timeout: timeout)
        let reason = errno

        #expect(!isLocked)
        #expect(reason == EWOULDBLOCK)
    }

    @Test func `a lock that another descriptor releases is taken`() async throws {
        let executor = BlockingExecutor(name: "lock", maxConcurrent: 1)
        async let isLocked = executor.run { try descriptor().lock(timeout: .seconds(600)) }

        close(holder)

        #expect(try await isLocked)
    }
}
