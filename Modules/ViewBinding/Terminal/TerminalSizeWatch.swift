import AlcedoCore
import AlcedoLibc
import Dispatch

extension TerminalCanvas {
    /// Returns a sequence of the sizes of a terminal, one for each change. It does not begin with the current size.
    ///
    /// ```swift
    /// for await canvas in TerminalCanvas.changes(fileDescriptor: 1) { view.resize(to: canvas) }
    /// ```
    ///
    /// The sequence ends when the task that iterates over it is canceled. If several sizes arrive before they are read,
    /// only the last one is kept. The first call replaces the process's SIGWINCH handler permanently.
    ///
    /// - Parameter fileDescriptor: The file descriptor of the terminal. The caller keeps ownership, and closes it only
    ///   after the sequence has ended.
    @MainActor public static func changes(fileDescriptor: Int32) -> AsyncStream<TerminalCanvas> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TerminalCanvas.self, bufferingPolicy: .bufferingNewest(1))
        let watch = TerminalSizeWatch(fileDescriptor: fileDescriptor) { continuation.yield($0) }
        continuation.onTermination = { _ in withExtendedLifetime(watch) {} }
        return stream
    }
}

/// An observer of a terminal's size, active until it is released.
///
/// The first observer replaces the process's SIGWINCH handler permanently.
@MainActor package final class TerminalSizeWatch {
    /// The pipe through which the signal handler passes each signal to the main queue. The handler may make only
    /// async-signal-safe calls. The value is nil if the system provides no pipe; observers then receive no sizes.
    nonisolated private static let signalPipe: (outside: Int32, inside: Int32)? = {
        var files: [Int32] = [-1, -1]
        guard pipe(&files) == 0 else { return nil }
        for file in files {
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
            _ = fcntl(file, F_SETFL, O_NONBLOCK)
        }
        return (files[0], files[1])
    }()
    private static var source: (any DispatchSourceRead)?
    private static var handlers: [Int: @MainActor () -> Void] = [:]
    private static var lastID = 0

    private let id: Int

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - fileDescriptor: The file descriptor of the terminal.
    ///   - onChange: A closure that receives the new size of the terminal.
    package init(fileDescriptor: Int32, onChange: @escaping @MainActor (TerminalCanvas) -> Void) {
        Self.lastID += 1
        id = Self.lastID
        Self.handlers[id] = {
            if let canvas = TerminalCanvas(fileDescriptor: fileDescriptor) { onChange(canvas) }
        }
        Self.listen()
    }

    isolated deinit { Self.handlers[id] = nil }

    private static func listen() {
        guard source == nil, let signalPipe else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: signalPipe.outside, queue: .main)
        source.setEventHandler {
            var changes = [UInt8](repeating: 0, count: 64)
            _ = read(signalPipe.outside, &changes, changes.count)
            MainActor.assumeIsolated { for handler in handlers.values { handler() } }
        }
        source.resume()
        self.source = source
        signal(SIGWINCH) { _ in
            let before = errno
            var one: UInt8 = 1
            if let signalPipe = TerminalSizeWatch.signalPipe { _ = write(signalPipe.inside, &one, 1) }
            errno = before
        }
    }
}
