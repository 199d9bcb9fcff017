import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import Foundation

/// The working directory of a benchmark, which is removed with its content when the benchmark ends.
struct BenchDirectory {
    let url: URL

    init(in directory: URL) throws {
        url = directory.appending(path: "alcedo-bench-\(UUID().uuidString)")
        BenchCleanup.begin(url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Returns the names in a directory that a command measures, sorted.
    static func names(in directory: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            throw BenchError(description: "cannot list \(directory)")
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        BenchCleanup.end(url)
    }
}

/// Cleans up when a signal ends a benchmark: removes its files, and ends its child processes.
enum BenchCleanup {
    private struct State {
        var locations: Set<URL> = []
        var children: Set<Int32> = []
        var isEnding = false
    }

    /// The maximum time to wait for child processes after SIGTERM, because they clean up, too.
    private static let gracePeriod = Duration.seconds(3)

    private static let state = Locked(State())

    /// The handler of signals, installed at the first use.
    private static let interruption: Interruption = {
        let (signals, signal) = AsyncStream<Void>.makeStream()
        let interruption = Interruption { signal.yield() }
        Task {
            for await _ in signals { await end(interruption) }
        }
        return interruption
    }()

    /// Registers a file or directory to remove when a signal arrives.
    static func begin(_ location: URL) {
        _ = interruption
        state.withLock { _ = $0.locations.insert(location) }
    }

    /// Unregisters a location that was removed or is to be kept.
    static func end(_ location: URL) { state.withLock { _ = $0.locations.remove(location) } }

    /// Registers a child process that receives SIGTERM when a signal arrives.
    static func begin(_ child: Int32) {
        _ = interruption
        let isEnding = state.withLock { state in
            state.children.insert(child)
            return state.isEnding
        }
        if isEnding { kill(child, SIGTERM) }
    }

    /// Unregisters child processes that have ended. Does not return after a signal, so that no further work starts.
    static func end(_ children: Int32...) { end(children) }

    static func end(_ children: [Int32]) {
        let isEnding = state.withLock { state in
            state.children.subtract(children)
            return state.isEnding
        }
        while isEnding { pause() }
    }

    private static func end(_ interruption: Interruption) async {
        let children = state.withLock { state in
            state.isEnding = true
            return state.children
        }
        for child in children { kill(child, SIGTERM) }
        let start = ContinuousClock.now
        // The tasks that wait for the children remove them from the state, without an event.
        while state.withLock({ !$0.children.isEmpty }), ContinuousClock.now - start < gracePeriod {
            try? await Task.sleep(for: .milliseconds(5))
        }
        let status = await interruption.finish() ?? .interrupted
        Console.notice("alcedo-bench: interrupted")
        let removal = remove(state.withLock { $0.locations })
        withExtendedLifetime(removal) { _exit(status.rawValue) }
    }

    /// Starts a shell that removes the locations after this process, which may write until then, has ended. The shell
    /// waits for the end of its standard input, which is returned.
    private static func remove(_ locations: Set<URL>) -> Pipe {
        let (shell, input) = (Process(), Pipe())
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "read -r _; rm -rf -- \"$@\"", "sh"] + locations.map(\.path)
        (shell.standardInput, shell.standardOutput) = (input, FileHandle.nullDevice)
        shell.standardError = FileHandle.nullDevice
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        if !locations.isEmpty { try? shell.run() }
        return input
    }
}
