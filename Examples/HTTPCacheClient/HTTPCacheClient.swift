import AlcedoCURL
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoURLResponseCache
import Foundation

/// A client for HTTP cache test suites. It reads requests as JSON lines and sends them through the HTTP cache.
@main enum HTTPCacheClient {
    /// The permits for concurrent calls. A call holds one from the reading of its line until its response is written.
    private static let permits = DispatchSemaphore(value: 64)
    /// The queue that writes the output. Writing may block, so it does not run on the threads of tasks.
    private static let output = DispatchQueue(label: "standard output")

    private static let transport: CachingTransport = {
        let environment = ProcessInfo.processInfo.environment
        var options = CURLOptions()
        // The limit is enough for every call and for as many background revalidations.
        options.maxConcurrentTransfers = 128
        // Test suites check that bodies arrive unchanged, so content codings are not decoded.
        options.decodesContent = false
        let network = CURLTransport(options: options)
        let isShared = environment["CACHE_DRIVER_PROFILE"] == "shared"
        let rules = ResponseCacheRules(
            role: isShared ? .shared(targets: ["CDN-Cache-Control"]) : .private, respondsWhenDisconnected: true)
        let disk = environment["CACHE_DRIVER_DIR"].map { FileDiskCache(directory: URL(filePath: $0)) }
        return CachingTransport(wrapping: network, cache: URLResponseCache(disk: disk, rules: rules))
    }()

    static func main() {
        guard CommandLine.arguments.count == 1 else {
            FileHandle.standardError.write(Data("http-cache-client: arguments are not supported\n".utf8))
            exit(2)
        }
        // Test runners with an event loop may pass nonblocking streams.
        for file in [STDIN_FILENO, STDOUT_FILENO] { _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) }
        write(["hello": ["name": "Alcedo", "version": "0.1.0"]])
        let (lines, sink) = AsyncStream.makeStream(of: String.self)
        let isFinished = DispatchSemaphore(value: 0)
        // The main thread reads lines, so the main actor is not available.
        Task.detached {
            await withDiscardingTaskGroup { group in
                for await line in lines {
                    group.addTask {
                        let response = await response(to: Data(line.utf8))
                        output.async {
                            if let response { write(response) }
                            permits.signal()
                        }
                    }
                }
                group.cancelAll()
            }
            await transport.finish()
            output.async { isFinished.signal() }  // After the last response is written.
        }
        permits.wait()
        while let line = readLine() {
            if line.allSatisfy(\.isWhitespace) { continue }
            sink.yield(line)
            permits.wait()
        }
        // Calls have 3 seconds to finish. Storing responses has another 1.5 seconds.
        let deadline = DispatchTime.now() + 3
        for _ in 1..<64 { _ = permits.wait(timeout: deadline) }
        sink.finish()
        _ = isFinished.wait(timeout: .now() + 1.5)
        _exit(0)  // Skips the exit handlers of libraries, because background transfers may still use the libraries.
    }

    /// Returns the response line for a request line, or nil if the line has no readable id.
    private static func response(to line: Data) async -> [String: any Sendable]? {
        struct Identified<ID: Decodable>: Decodable { let id: ID }
        let decoder = JSONDecoder()
        let number = try? decoder.decode(Identified<Int>.self, from: line).id
        guard let id: any Sendable = number ?? (try? decoder.decode(Identified<String>.self, from: line).id) else {
            FileHandle.standardError.write(Data("http-cache-client: invalid line: no readable id\n".utf8))
            return nil
        }
        do {
            return try await decoder.decode(Call.self, from: line).response(for: id, over: transport)
        } catch let error as HTTPTransportError {
            let kind: String = [.timedOut: "timeout", .badRedirect: "redirect"][error.code] ?? error.code.rawValue
            return ["id": id, "error": "\(error)", "error_kind": kind]
        } catch {
            let kind = error is DecodingError ? "invalidRequest" : error is CancellationError ? "cancelled" : "other"
            return ["id": id, "error": "\(error)", "error_kind": kind]
        }
    }

    private static func write(_ line: [String: any Sendable]) {
        let data = try? JSONSerialization.data(withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        FileHandle.standardOutput.write((data ?? Data()) + Data("\n".utf8))
    }
}
