import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials
import TestSupport
import Testing

/// A running client, used like a test suite's runner. For one task.
final class Conversation {
    private let workingDirectory: TemporaryDirectory
    private let process: ChildProcess
    private let input: Int32
    private var lines: AsyncStream<String>.Iterator

    /// - Parameter directory: The client's cache directory, or nil for a temporary one.
    init(directory: URL? = nil, profile: String = "private") throws {
        workingDirectory = try TemporaryDirectory()
        // Sockets, because writing to a process that has ended must not end this one by a signal.
        let (input, childInput) = try Self.pair()
        let (output, childOutput) = try Self.pair()
        defer {
            close(childInput)
            close(childOutput)
        }
        // Nonblocking, as runners with an event loop leave them.
        for end in [childInput, childOutput] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        let cache = workingDirectory.url.appending(path: "cache")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        self.input = input
        process = try ChildProcess(
            "http-cache-client",
            environment: ["CACHE_DRIVER_DIR": (directory ?? cache).path, "CACHE_DRIVER_PROFILE": profile],
            directory: workingDirectory.path, input: .descriptor(childInput), output: .descriptor(childOutput),
            problems: .file(workingDirectory.url.appending(path: "problems").path))
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        self.lines = lines.makeAsyncIterator()
        LoopThread.start {
            Self.readLines(of: output) { sink.yield($0) }
            close(output)
            sink.finish()
        }
    }

    deinit { close(input) }

    private static func pair() throws -> (ours: Int32, theirs: Int32) {
        var ends: [Int32] = [0, 0]
        let type = SocketType.stream | SocketType.closeOnExec
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private static func readLines(of file: Int32, _ take: (String) -> Void) {
        var partialLine: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            partialLine += buffer[..<count]
            while let end = partialLine.firstIndex(of: UInt8(ascii: "\n")) {
                take(String(decoding: partialLine[..<end], as: UTF8.self))
                partialLine.removeFirst(end + 1)
            }
        }
    }

    func send(_ line: String) {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcedoLibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    func call(_ line: CallLine) throws { send(try line.text) }

    /// Returns the next response except the client's greeting, or nil at the end of the output.
    func response() async throws -> ResponseLine? {
        while let line = await lines.next() {
            let response = try JSONDecoder().decode(ResponseLine.self, from: Data(line.utf8))
            if response.hello == nil { return response }
        }
        return nil
    }

    /// Makes one call and returns its response, which must be the next.
    func response(to line: CallLine) async throws -> ResponseLine {
        try call(line)
        let response = try #require(try await response())
        #expect(response.id == line.id)
        return response
    }

    func endInput() {
        shutdown(input, Int32(SHUT_WR))
    }

    /// Ends the input and returns the remaining responses, the exit status, and standard error.
    func end() async throws -> (responses: [ResponseLine], status: Int32, problems: String) {
        endInput()
        var responses: [ResponseLine] = []
        while let response = try await response() { responses.append(response) }
        let status = try await process.wait()
        let problems = try Data(contentsOf: workingDirectory.url.appending(path: "problems"))
        return (responses, status, String(decoding: problems, as: UTF8.self))
    }
}
