import Alcedo
import AlcedoTesting
import Foundation

/// A program that runs the same small app on several stacks of caches and prints the layers that served the images.
@main enum SwapBackends {
    static func main() async {
        var (stacks, urls): ([CacheStack], [URL]) = ([], [])
        var words = CommandLine.arguments.dropFirst()
        while let word = words.popFirst() {
            if word == "--stack" {
                let name = words.popFirst() ?? ""
                guard let stack = CacheStack(rawValue: name) else { end(2, "unknown stack '\(name)'") }
                stacks.append(stack)
            } else if word.hasPrefix("-") {
                end(2, "usage: swap-backends [--stack memory|files|sqlite|responses]... [URL|FILE...]")
            } else {
                urls.append(word.contains("://") ? URL(string: word) ?? URL(filePath: word) : URL(filePath: word))
            }
        }
        let loads = Task { [stacks, urls] in try await run(stacks.isEmpty ? CacheStack.allCases : stacks, urls) }
        // Ctrl-C cancels the loads, so that the directory of the stack is removed as usual.
        signal(SIGINT, SIG_IGN)
        let interruption = DispatchSource.makeSignalSource(signal: SIGINT)
        interruption.setEventHandler { loads.cancel() }
        interruption.resume()
        switch await loads.result {
        case .success(let succeeded): exit(succeeded ? 0 : 1)
        case .failure(is CancellationError): exit(130)
        case .failure(let error): end(1, "\(error)")
        }
    }

    /// Loads the images, or twelve of a local server, three times with each stack. Returns whether all loaded at last.
    private static func run(_ stacks: [CacheStack], _ urls: [URL]) async throws -> Bool {
        let jpeg = try ImageEncoder.jpeg().encode(.coordinates(PixelSize(width: 240, height: 240)))
        let origin = try LoopbackOrigin { _ in .ok(jpeg, type: "image/jpeg", fields: ["Cache-Control": "max-age=600"]) }
        let urls = urls.isEmpty ? (1...12).map { origin.url(for: "/picture-\($0).jpg") } : urls
        var succeeded = true
        // A database is written while it closes, which must not happen during the removal, so the pipelines stay open.
        var pipelines: [ImagePipeline] = []
        for stack in stacks {
            let directory = FileManager.default.temporaryDirectory.appending(path: "swap-backends-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: directory) }
            succeeded = try await run(stack, urls, in: directory, keeping: &pipelines) && succeeded
        }
        return succeeded
    }

    private static func run(
        _ stack: CacheStack, _ urls: [URL], in directory: URL, keeping pipelines: inout [ImagePipeline]
    ) async throws -> Bool {
        let network = CountedNetwork()
        var rows = [["", "memory", "disk", "responses", "network", "bytes fetched"]]
        var results: [Result<ImageResponse, any Error>] = []
        for runs in [["first run", "again"], ["after a restart"]] {
            let disk = stack.diskCache(in: directory)
            let pipeline = ImagePipeline(stack.configuration(disk: disk, network: network))
            pipelines.append(pipeline)
            for run in runs {
                let before = network.responseCount
                results = await load(urls, by: pipeline)
                await pipeline.flush()
                let images = results.compactMap { try? $0.get() }
                // An image from a response cache, revalidated or not, has no transfer metrics.
                let stored = images.filter { $0.metrics == nil }
                let fetched = images.filter { $0.metrics != nil }.compactMap(\.encodedByteCount).reduce(0, +)
                let layers = [.memory, .disk, .network].map { layer in stored.count { $0.layer == layer } }
                rows.append([run] + (layers + [network.responseCount - before, fetched]).map(String.init))
            }
            // The directory is removed afterwards, so all writes must have ended, also those of a trim.
            await pipeline.shutDown()
            await disk?.flush()
            try Task.checkCancellation()
        }
        let lines = rows.map { row in row.map { $0.padding(toLength: 17, withPad: " ", startingAt: 0) }.joined() }
        print("\(stack)\n\n\(lines.joined(separator: "\n"))\n")
        for case (let url, .failure(let error)) in zip(urls, results) {
            report("\(stack): \(url.isFileURL ? url.path : url.absoluteString): \(error)")
        }
        return results.allSatisfy { (try? $0.get()) != nil }
    }

    /// Loads the images, as an app does. The code does not depend on the caches.
    private static func load(_ urls: [URL], by loader: some ImageLoading) async -> [Result<ImageResponse, any Error>] {
        var results: [Result<ImageResponse, any Error>] = []
        for url in urls {
            do { results.append(.success(try await loader.load(url))) } catch { results.append(.failure(error)) }
        }
        return results
    }

    private static func report(_ text: String) { FileHandle.standardError.write(Data("swap-backends: \(text)\n".utf8)) }

    private static func end(_ status: Int32, _ text: String) -> Never {
        report(text)
        exit(status)
    }
}
