import Alcedo
import AlcedoTerminal
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

struct ShowCommand: ProgramCommand {
    static let name = "show"
    static let help =
        """
        usage: alcedo show URL|FILE|DIRECTORY... [options]

        Shows images in the terminal: as pixels with the Kitty graphics protocol or Sixel, otherwise as two pixels per
        character cell in 24-bit or 256 colors, or as characters without color. Animations are played; Ctrl-C ends them.

          --protocol P            use auto, blocks, kitty or sixel; all but blocks query the terminal and discard input
                                  typed before its reply, for at most 300 ms (default: auto)
          --loops N               play animations N times (default: as specified by the file; once for several images)
          --color MODE            use auto, truecolor, 256 or none (default: auto, from the environment)
          --width N               use at most N columns (default: the width of the terminal, or 80)
          --height N              use at most N lines (default: the height of the terminal, or 40)
          --quiet, -q             print no names between images, only problems

        """ + InputOptions.help + StackOptions.help

    private enum GraphicsProtocol: String {
        case auto, blocks, kitty, sixel
    }

    private var inputs = InputOptions()
    private var stack = StackOptions()
    private var isQuiet = false
    private var depth = TerminalColorDepth(
        environment: ProcessInfo.processInfo.environment, isTerminal: Console.outputIsTerminal)
    private var graphics = GraphicsProtocol.auto
    private var loops: Int?
    private var columns: Int?
    private var lines: Int?

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--color":
            if let depth = try Self.depth(try arguments.value(of: option)) { self.depth = depth }
        case "--protocol":
            let name = try arguments.value(of: option)
            guard let graphics = GraphicsProtocol(rawValue: name) else {
                throw UsageError("--protocol needs auto, blocks, kitty or sixel, not '\(name)'")
            }
            self.graphics = graphics
        case "--loops": loops = try arguments.number(of: option, in: 1...1_000_000)
        case "--width": columns = try arguments.number(of: option, in: 1...1000)
        case "--height": lines = try arguments.number(of: option, in: 1...1000)
        case "--quiet", "-q": isQuiet = true
        default: return try inputs.take(option, from: &arguments) || stack.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws { try inputs.take(words, for: Self.name) }

    func run() async throws -> ExitStatus {
        let images = try await inputs.images(changing: stack.network.apply)
        var report = JobReport(program: "alcedo")
        report.isQuiet = isQuiet
        report.printSkipped(images)
        // Ctrl-C is the usual way to end an endless animation, so no message is printed after all images were shown.
        let tally = RunTally(of: images.count, "shown", report, reportsCompletion: false)
        return try await stack.run(inputs: inputs, downloads: images.count, tally: tally) {
            configuration, interruption in
            await show(images, by: configuration, until: interruption, tally)
        }
    }

    /// Shows the images and prints problems. Returns whether every image was shown and the disk cache reported no write
    /// error. An interruption cancels the task, which stops the animation and restores the terminal.
    private func show(
        _ images: ImageList, by configuration: ImagePipeline.Configuration, until interruption: Interruption,
        _ tally: RunTally
    ) async -> Bool {
        let errors = ErrorObserver()
        var configuration = configuration
        configuration.observers = [errors]
        let pipeline = ImagePipeline(configuration)
        let presenter = await TerminalPresenter(
            pipeline: pipeline, playCount: loops ?? (images.count > 1 ? 1 : nil), interruption: interruption,
            tally: tally)
        let succeeded = await withTaskCancellationHandler {
            // The executor throws only if the task was canceled before the closure started.
            guard
                let graphics = try? await BlockingExecutor(name: "terminal", maxConcurrent: 1).run({ chosenGraphics() })
            else { return false }
            let renderer = TerminalRenderer(
                canvas: canvas(on: TerminalCanvas(fileDescriptor: 1)), depth: depth, graphics: graphics)
            // Drawing in place requires escape codes.
            let isLive = Console.outputIsTerminal && (depth != .none || graphics != .blocks)
            let resizing: @MainActor (TerminalCanvas) -> TerminalCanvas = { canvas(on: $0) }
            return await presenter.show(
                images, named: images.count > 1 && !isQuiet, by: renderer, resizing: isLive ? resizing : nil)
        } onCancel: {
            Task { await presenter.stop() }
        }
        // Disk writes continue after a load; the process must not exit before they finish.
        await pipeline.flush()
        for message in errors.messages { Console.problem("alcedo: \(message)") }
        return succeeded && errors.messages.isEmpty
    }

    /// Returns the canvas for one image, in character cells: at most `--width` by `--height`, and at most the
    /// terminal's size less its last line, which is left to the prompt. Without a terminal, the defaults are 80 columns
    /// and 40 lines.
    private func canvas(on screen: TerminalCanvas?) -> TerminalCanvas {
        TerminalCanvas(
            columns: min(columns ?? .max, screen?.columns ?? columns ?? 80),
            rows: min(lines ?? .max, screen.map { max(1, $0.rows - 1) } ?? lines ?? 40))
    }

    /// Returns the graphics protocol to use. Queries the terminal for the size of a character cell, and with
    /// `--protocol auto` also for the protocol. A query blocks for at most 300 ms and discards input typed before the
    /// reply.
    ///
    /// Does not query the terminal with `--protocol blocks`, or if the protocol is `auto` and the output is not a
    /// terminal or has no colors.
    private func chosenGraphics() -> TerminalGraphics {
        let terminal = TerminalFile(fileDescriptor: 1)
        TerminalRestoration.begin { terminal.end() }
        defer { TerminalRestoration.end() }
        switch graphics {
        case .blocks: return .blocks
        case .kitty: return .kitty(cell: TerminalGraphics.cell(asking: terminal))
        case .sixel: return .sixel(cell: TerminalGraphics.cell(asking: terminal))
        case .auto:
            let shouldQueryTerminal = TerminalGraphics.shouldQueryTerminal(
                environment: ProcessInfo.processInfo.environment, isTerminal: Console.outputIsTerminal)
            return shouldQueryTerminal && depth != .none ? TerminalGraphics(asking: terminal) : .blocks
        }
    }

    /// Returns the color depth that a value of `--color` names, or nil for `auto`. Throws ``UsageError`` for any other
    /// value.
    private static func depth(_ mode: String) throws -> TerminalColorDepth? {
        switch mode {
        case "auto": nil
        case "truecolor": .trueColor
        case "256": .ansi256
        case "none": TerminalColorDepth.none
        default: throw UsageError("--color needs auto, truecolor, 256 or none, not '\(mode)'")
        }
    }
}
