import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo show`
struct ShowCommand {
    private static let help = """
        usage: alcedo show URL|FILE [options]

        Draws the image in the terminal: two pixels a character cell in 24-bit or 256 colours, or characters where the
        terminal has no colour.

          --color MODE   auto, truecolor, 256 or none (default: auto, from the environment)
          --width N      at most N columns (default: the terminal's, or 80)
          --height N     at most N lines (default: the terminal's, or 40)

        """

    private var image: ImageArgument?
    private var depth = TerminalColorDepth(
        environment: ProcessInfo.processInfo.environment, isTerminal: Console.outputIsTerminal)
    private var columns: Int?
    private var lines: Int?
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--color":
                let mode = try arguments.value(of: option)
                guard let depth = try Self.depth(mode) else { continue }
                self.depth = depth
            case "--width": columns = try arguments.number(of: option, in: 1...1000)
            case "--height": lines = try arguments.number(of: option, in: 1...1000)
            case "--help", "-h": showsHelp = true
            default: throw UsageError("show has no option '\(option)'")
            }
        }
        try arguments.finish()
        guard !showsHelp else { return }
        guard arguments.rest.count == 1, !arguments.rest[0].isEmpty else {
            throw UsageError("show needs one URL or file")
        }
        image = ImageArgument(arguments.rest[0])
    }

    func run() async throws -> ExitStatus {
        guard let image else {
            Console.output(Self.help)
            return .success
        }
        // The last line is left to the prompt.
        let screen = TerminalCanvas(fileDescriptor: 1).map {
            TerminalCanvas(columns: $0.columns, rows: max(1, $0.rows - 1))
        }
        let canvas = TerminalCanvas(columns: columns ?? screen?.columns ?? 80, rows: lines ?? screen?.rows ?? 40)
        let troubles = TroubleObserver()
        var configuration = ImagePipeline.Configuration.standard()
        configuration.observer = troubles
        let pipeline = ImagePipeline(configuration)
        do {
            var request = try image.request.get()
            request.decoding.target = TargetSize(PixelSize(width: canvas.columns, height: canvas.rows * 2))
            let picture = try await pipeline.image(for: request)
            let rendered = TerminalRenderer(canvas: canvas, depth: depth).lines(for: picture)
            Console.output(rendered.map { $0 + "\n" }.joined())
            // The bytes go to disk behind the load; the process must not end before.
            await pipeline.flush()
            for trouble in troubles.messages { Console.problem("alcedo: \(trouble)") }
            return troubles.messages.isEmpty ? .success : .failure
        } catch {
            Console.problem("alcedo: \(image.name): \(image.withoutPassword("\(error)"))")
            return .failure
        }
    }

    /// nil for `auto`.
    private static func depth(_ mode: String) throws -> TerminalColorDepth? {
        switch mode {
        case "auto": nil
        case "truecolor": .trueColor
        case "256": .ansi256
        case "none": TerminalColorDepth.none
        default: throw UsageError("--color takes auto, truecolor, 256 or none, not '\(mode)'")
        }
    }
}
