import AlcedoLibc
import Dispatch

/// Takes resources from a process of its own, for tests of exhaustion.
package enum Scarcity {
    /// The system has refused a limit, or does not report the usage.
    package struct Refused: Error {}

    /// Limits the number of file descriptors.
    ///
    /// libdispatch opens files to count its active threads, once a second while work waits for the cooperative pool,
    /// and ends the process if it cannot. Therefore tasks leave that pool.
    package static func limitDescriptors(to count: UInt) throws {
        try CooperativePool.leave()
        try set(.openFiles, soft: count, hard: count)
    }

    /// Runs `work` while there are no more than `spare` file descriptors left.
    package static func withDescriptors(
        _ spare: Int, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
    ) async rethrows {
        // libdispatch has opened its lasting descriptors once a timer has fired. No assertion relies on the duration.
        try? await Task.sleep(for: .milliseconds(1))
        var taken: [Int32] = []
        while true {
            let number = dup(0)
            guard number >= 0 else { break }
            taken.append(number)
        }
        for number in taken.suffix(spare) { close(number) }
        taken.removeLast(min(spare, taken.count))
        defer { for number in taken { close(number) } }
        try await work()
    }

    /// Limits memory to this many bytes more than the process uses.
    package static func limitMemory(beyondNow room: UInt) throws {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 256)
        guard read(file, &text, text.count) > 0,
            let pages = UInt(String(decoding: text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
        else { throw Refused() }
        try set(.memory, soft: pages * UInt(getpagesize()) + room, hard: .max)
    }

    package static func unlimitMemory() throws { try set(.memory, soft: .max, hard: .max) }

    private static func set(_ resource: ResourceLimit, soft: UInt, hard: UInt) throws {
        guard resource.set(soft: soft, hard: hard) else { throw Refused() }
    }
}

/// The threads on which tasks run.
private enum CooperativePool {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// The runtime does not have this hook.
    struct Missing: Error {}

    /// From now on tasks run one after another on a queue that always has a thread.
    static func leave() throws {
        guard let hook = dlsym(nil, "swift_task_enqueueGlobal_hook") else { throw Missing() }
        hook.assumingMemoryBound(to: Optional<Hook>.self).pointee = { job, _ in
            SerialQueueExecutor.shared.enqueue(job)
        }
    }
}

/// Runs tasks one after another on a queue that always has a thread.
package final class SerialQueueExecutor: TaskExecutor {
    package static let shared = SerialQueueExecutor()

    private let queue = DispatchQueue(label: "tests")

    package func enqueue(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
