import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime
import Foundation

/// A folder that a benchmark works in, and that goes with it.
struct BenchDirectory {
    let url: URL

    init(in directory: URL) throws {
        url = directory.appending(path: "alcedo-bench-\(UUID().uuidString)")
        BenchCleanup.begin(url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
        BenchCleanup.end(url)
    }
}

/// What a benchmark would leave behind when a signal ends it: files, and processes that do not end with it.
enum BenchCleanup {
    private struct State {
        var locations: Set<URL> = []
        var children: Set<Int32> = []
        var isEnding = false
    }

    /// How long processes are waited for that are told to end: they have something to take away, too.
    private static let patience = Duration.seconds(3)

    private static let state = Locked(State())

    /// From the first use on.
    private static let interruption: Interruption = {
        let (signals, signal) = AsyncStream<Void>.makeStream()
        let interruption = Interruption { signal.yield() }
        Task {
            for await _ in signals { await end(interruption) }
        }
        return interruption
    }()

    /// A file or folder that goes when a signal comes.
    static func begin(_ location: URL) {
        _ = interruption
        state.withLock { _ = $0.locations.insert(location) }
    }

    /// The place is gone, or is to stay.
    static func end(_ location: URL) { state.withLock { _ = $0.locations.remove(location) } }

    /// A process that is told when a signal comes.
    static func begin(_ child: Int32) {
        _ = interruption
        let isEnding = state.withLock { state in
            state.children.insert(child)
            return state.isEnding
        }
        if isEnding { kill(child, SIGTERM) }
    }

    /// The processes have ended. Does not return when that was a signal's doing: nothing is to begin any more.
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
        while state.withLock({ !$0.children.isEmpty }), ContinuousClock.now - start < patience {
            try? await Task.sleep(for: .milliseconds(5))
        }
        let status = await interruption.finish() ?? .interrupted
        Console.notice("alcedo-bench: interrupted")
        let removal = remove(state.withLock { $0.locations })
        withExtendedLifetime(removal) { _exit(status.rawValue) }
    }

    /// Has a shell do it when this process has ended, which writes to the last. The shell waits for the end of its input,
    /// which is returned.
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
