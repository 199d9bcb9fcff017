import Alcedo
import AlcedoTesting
import ExampleSupport
import Foundation

/// One app on four stacks of caches.
@main
enum SwapBackends {
    private static let help = """
        usage: swap-backends [--stack NAME]... [--pictures N] [URL|FILE...]

        Runs one small app on several stacks of caches and prints what each layer did: in the first run, in a second
        run of the same process, and after a restart. Without arguments it loads pictures of its own from 127.0.0.1.

          --stack NAME     memory, files, sqlite or responses; may be repeated (default: all four)
          --pictures N     how many pictures of its own (default: 12)

        """

    static func main() {
        ExitStatus.end("swap-backends") {
            var arguments = Arguments(CommandLine.arguments.dropFirst())
            var stacks: [CacheStack] = []
            var count = 12
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
            let named = try arguments.rest.map { try ImageArgument($0).request.get() }
            let origin = named.isEmpty ? try SampleOrigin.start() : nil
            defer { origin?.stop() }
            let requests = origin.map { SampleOrigin.requests(count, from: $0) } ?? named
            for stack in stacks.isEmpty ? CacheStack.allCases : stacks { try await run(stack, requests) }
            return .success
        }
    }

    private static func stack(_ name: String) throws -> CacheStack {
        guard let stack = CacheStack(rawValue: name) else {
            let names = CacheStack.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("there is no stack '\(name)'; they are: \(names)")
        }
        return stack
    }

    /// Three runs of the app, each told on a line of its own.
    private static func run(_ stack: CacheStack, _ requests: [ImageRequest]) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "swap-backends-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: folder) }
        var table = LayerTable()
        var pipeline: ImagePipeline?
        var metrics = SwitchedMetrics()
        for (name, restarts) in [("first run", true), ("again", false), ("after a restart", true)] {
            if restarts {
                await pipeline?.shutDown()
                metrics = SwitchedMetrics()
                pipeline = ImagePipeline(stack.configuration(in: folder, observer: metrics))
            }
            guard let pipeline else { continue }
            metrics.begin()
            try await PictureApp(loader: pipeline).show(requests)
            await pipeline.flush()
            table.append(name, metrics.snapshot, of: stack)
        }
        await pipeline?.shutDown()
        Console.output("\(stack.rawValue): \(stack.words)\n\n\(table.text)\n")
    }
}
