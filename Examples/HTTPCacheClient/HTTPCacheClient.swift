// Longer than the other examples, because the lines that it reads and writes (Messages.swift) are a contract with suites.
import AlcedoCURL
import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoURLResponseCache
import Foundation

/// Drives the HTTP cache over real sockets from JSON lines, for test suites of the protocol.
@main
enum HTTPCacheClient {
    /// The maximum number of calls in progress; more of them wait in standard input.
    private static let maxConcurrentCalls = 64
    /// The maximum number of bytes of a body.
    private static let bodyLimit = 64 << 20

    static func main() async {
        if let word = CommandLine.arguments.dropFirst().first {
            StandardStreams.problem("it takes no argument, not '\(word)' either")
            exit(2)
        }
        let transport = transport(ProcessInfo.processInfo.environment)
        await StandardStreams.write(["hello": ["name": "Alcedo", "version": AlcedoVersion.text]])
        await answerCalls(over: transport)
        // What is still to be stored has a second and a half. Then the process ends at once, without the exit handlers of
        // libraries, which transfers in the background may still use.
        Task {
            try await Task.sleep(for: .milliseconds(1_500))
            _exit(0)
        }
        await transport.finish()
        _exit(0)
    }

    /// The parts that requests go through.
    private static func transport(_ environment: [String: String]) -> CachingTransport {
        var options = CURLOptions()
        // Enough connections for every call, and for as many revalidations in the background.
        options.maxConcurrentTransfers = 2 * maxConcurrentCalls
        options.maxConcurrentTransfersPerHost = 2 * maxConcurrentCalls
        // Bodies stay as the server sent them: suites check that nothing changes them on the way.
        options.decodesContent = false
        let isShared = environment["CACHE_DRIVER_PROFILE"] == "shared"
        let rules = ResponseCacheRules(
            role: isShared ? .shared(targets: ["CDN-Cache-Control"]) : .private, respondsWhenDisconnected: true)
        let disk = environment["CACHE_DRIVER_DIR"].map { FileDiskCache(directory: URL(filePath: $0)) }
        return CachingTransport(
            wrapping: CURLTransport(options: options), cache: URLResponseCache(disk: disk, rules: rules))
    }

    /// Answers calls side by side. Returns when standard input has ended and every call has its answer.
    private static func answerCalls(over transport: any HTTPTransport) async {
        await withTaskGroup(of: Bool.self) { group in
            var count = 0
            for await line in StandardStreams.lines() {
                if count == maxConcurrentCalls, await group.next() != nil { count -= 1 }
                count += 1
                group.addTask {
                    await answer(line, over: transport)
                    return true
                }
            }
            // At the end of standard input calls have three seconds to finish.
            group.addTask {
                try? await Task.sleep(for: .seconds(3))
                return false
            }
            while count > 0, let isCall = await group.next() {
                if isCall { count -= 1 } else { group.cancelAll() }
            }
            group.cancelAll()
        }
    }

    private static func answer(_ line: String, over transport: any HTTPTransport) async {
        do throws(CallError) {
            let call = try Call(line: line)
            await StandardStreams.write(await answer(to: call, over: transport))
        } catch {
            guard let id = error.id else { return StandardStreams.problem(error.message) }
            await StandardStreams.write(Answer(id: id, error))
        }
    }

    /// Never throws: an error is an answer.
    private static func answer(to call: Call, over transport: any HTTPTransport) async -> Answer {
        do {
            return try await withThrowingTaskGroup(of: Answer.self) { group in
                group.addTask {
                    let response =
                        call.followsRedirects
                        ? try await RedirectFollower(transport).send(call.request)
                        : try await transport.send(call.request)
                    return Answer(id: call.id, response, body: try await response.body.collect(limit: bodyLimit))
                }
                group.addTask {
                    try await Task.sleep(for: call.timeLimit)
                    throw HTTPTransportError(.timedOut, "there is no whole response within \(call.timeLimit)")
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw CancellationError() }
                return first
            }
        } catch {
            return Answer(id: call.id, error)
        }
    }
}

/// Lines in and out. What may block has threads of its own.
enum StandardStreams {
    private static let output = DispatchQueue(label: "standard output")

    /// Returns the lines of standard input that are not empty, read one ahead.
    static func lines() -> AsyncStream<String> {
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        let room = DispatchSemaphore(value: 0)
        // Runners with an event loop leave streams that do not block.
        for file in [STDIN_FILENO, STDOUT_FILENO] { _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) }
        Thread.detachNewThread {
            while let line = readLine() {
                if line.allSatisfy(\.isWhitespace) { continue }
                sink.yield(line)
                room.wait()
            }
            sink.finish()
        }
        return AsyncStream(unfolding: {
            room.signal()
            var iterator = lines.makeAsyncIterator()
            return await iterator.next()
        })
    }

    /// Writes a value as JSON. Returns when the line is written.
    static func write(_ value: some Encodable & Sendable) async {
        await withCheckedContinuation { continuation in
            output.async {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                if let line = try? encoder.encode(value) { FileHandle.standardOutput.write(line + Data("\n".utf8)) }
                continuation.resume()
            }
        }
    }

    /// Writes one line to standard error.
    static func problem(_ text: String) {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        FileHandle.standardError.write(Data("http-cache-client: \(line)\n".utf8))
    }
}
