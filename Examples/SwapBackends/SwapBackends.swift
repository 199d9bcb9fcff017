import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoRuntime
import AlcedoTesting
import Foundation

/// One app on four stacks of caches.
@main
enum SwapBackends {
    private static let help = """
        usage: swap-backends [--stack NAME]... [--pictures N] [URL|FILE|FOLDER...]

        Runs one small app on several stacks of caches and prints what each layer did: in the first run, in a second
        run of the same process, and after a restart. Without arguments it loads pictures of its own from 127.0.0.1.

          --stack NAME     memory, files, sqlite or responses; may be repeated (default: all four)
          --pictures N     how many pictures of its own (default: 12)

        """

    static func main() {
        ExitStatus.end("swap-backends") {
            var arguments = Arguments(CommandLine.arguments.dropFirst())
            var stacks: [CacheStack] = []
            var count: Int?
            while let option = arguments.nextOption() {
                switch option {
                case "--stack": stacks.append(try stack(try arguments.value(of: option)))
                case "--pictures": count = try arguments.number(of: option, in: 1...1_000)
                case "--help", "-h":
                    Console.output(help)
                    return .success
                default: throw UsageError("there is no option '\(option)'")
                }
            }
            try arguments.finish()
            let named = try await images(arguments.rest)
            guard named.isEmpty || count == nil else {
                throw UsageError("--pictures is about its own pictures, which others take the place of")
            }
            let origin = named.isEmpty ? try SampleOrigin.start() : nil
            defer { origin?.stop() }
            let images = origin.map { SampleOrigin.images(count ?? 12, from: $0) } ?? named
            return try await run(stacks.isEmpty ? CacheStack.allCases : stacks, images)
        }
    }

    /// What the words stand for, as `alcedo` takes them. Empty when there are none.
    private static func images(_ words: [String]) async throws -> [ImageArgument] {
        let items = try await BlockingExecutor(name: "inputs", width: 1).run {
            var gathering = InputGathering()
            for word in words { try gathering.add(word) }
            return gathering.items
        }
        guard words.isEmpty || !items.isEmpty else {
            throw UsageError("there is no image in '\(words.joined(separator: "', '"))'")
        }
        let images = ImageList(items)
        for index in images.indices {
            if case .failure(let error) = images[index].request { throw UsageError("\(images[index].name): \(error)") }
        }
        return images.indices.map { images[$0] }
    }

    /// Ctrl-C ends the stack that runs, whose folder goes as ever, and begins no other.
    private static func run(_ stacks: [CacheStack], _ images: [ImageArgument]) async throws -> ExitStatus {
        let running = Locked<Task<ExitStatus, any Error>?>(nil)
        let interruption = Interruption { running.withLock { $0 }?.cancel() }
        let work = Task {
            var status = ExitStatus.success
            for stack in stacks {
                try Task.checkCancellation()
                if try await !run(stack, images) { status = .failure }
            }
            return status
        }
        running.withLock { $0 = work }
        // A signal that came before found nothing to cancel.
        if interruption.hasCome { work.cancel() }
        let result = await work.result
        if let status = await interruption.finish() { return status }
        return try result.get()
    }

    private static func stack(_ name: String) throws -> CacheStack {
        guard let stack = CacheStack(rawValue: name) else {
            let names = CacheStack.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("there is no stack '\(name)'; they are: \(names)")
        }
        return stack
    }

    /// Three runs of the app, each told on a line of its own, and after them what could not be shown.
    ///
    /// - Returns: Whether all could.
    private static func run(_ stack: CacheStack, _ images: [ImageArgument]) async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "swap-backends-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        var pipeline: ImagePipeline?
        let result: Result<(table: LayerTable, problems: [Int: any Error]), any Error>
        do {
            let requests = try images.map { try $0.request.get() }
            result = .success(try await table(stack, requests, in: folder, &pipeline))
        } catch {
            result = .failure(error)
        }
        // Before the folder goes: what is on its way to it would make it anew.
        await pipeline?.shutDown()
        let (table, problems) = try result.get()
        Console.output("\(stack.rawValue): \(stack.words)\n\n\(table.text)\n")
        for (place, error) in problems.sorted(by: { $0.key < $1.key }) {
            let image = images[place]
            Console.problem("swap-backends: \(stack.rawValue): \(image.name): \(image.withoutPassword("\(error)"))")
        }
        return problems.isEmpty
    }

    /// - Parameter pipeline: The last one, which is to be shut down.
    /// - Returns: The table, and what went wrong with pictures, by their places, where it last did.
    private static func table(
        _ stack: CacheStack, _ requests: [ImageRequest], in folder: URL, _ pipeline: inout ImagePipeline?
    ) async throws -> (LayerTable, [Int: any Error]) {
        var table = LayerTable()
        var metrics = SwitchedMetrics()
        var problems: [Int: any Error] = [:]
        for (name, restarts) in [("first run", true), ("again", false), ("after a restart", true)] {
            if restarts {
                await pipeline?.shutDown()
                metrics = SwitchedMetrics()
                pipeline = ImagePipeline(stack.configuration(in: folder, metrics: metrics))
            }
            guard let pipeline else { continue }
            metrics.begin()
            problems.merge(try await PictureApp(loader: pipeline).show(requests)) { $1 }
            await pipeline.flush()
            table.append(name, metrics, of: stack)
        }
        return (table, problems)
    }
}

/// Serves pictures made on the spot, which may be kept for an hour.
private enum SampleOrigin {
    private static let side = 240

    static func start() throws -> LoopbackOrigin {
        let picture = try JPEGEncoder().encode(.coordinates(PixelSize(width: side, height: side)))
        return try LoopbackOrigin { _ in
            OriginReply(fields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=3600"], body: picture)
        }
    }

    static func images(_ count: Int, from origin: LoopbackOrigin) -> [ImageArgument] {
        (1...max(1, count)).map { ImageArgument(origin.url(for: "/picture-\($0).jpg").absoluteString) }
    }
}
