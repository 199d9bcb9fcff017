import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoTerminal

/// Shows one image after another on standard output.
@MainActor final class TerminalPresenter {
    private let pipeline: ImagePipeline
    private let playCount: Int?
    private let interruption: Interruption
    private let tally: RunTally
    private let frames = FramePool(pressureSource: SystemMemoryPressureSource())
    private var view: TerminalView?
    private var binder: ImageBinder?
    /// What is shown, when all of it has come, and the size that it was decoded for.
    private var shown: (request: ImageRequest, size: PixelSize)?
    private var isStopped = false

    /// - Parameters:
    ///   - playCount: How many times animations are played; nil: as the files say.
    ///   - interruption: Ends transfers before ``stop()`` is called; nothing begins after it.
    ///   - tally: Counts the images that have come to the terminal.
    init(pipeline: ImagePipeline, playCount: Int?, interruption: Interruption, tally: RunTally) {
        self.pipeline = pipeline
        self.tally = tally
        self.playCount = playCount
        self.interruption = interruption
    }

    /// Shows the images; returns whether all could be.
    ///
    /// - Parameters:
    ///   - hasNames: Whether each has its name above it.
    ///   - canvas: Gives the canvas for a new size of the terminal, which is drawn over while animations are played.
    ///     nil: the output is no such terminal, and of animations the first frame is shown.
    func show(
        _ images: ImageList, named hasNames: Bool, by renderer: TerminalRenderer,
        resizing canvas: (@MainActor (TerminalCanvas) -> TerminalCanvas)?
    ) async -> Bool {
        var renderer = renderer
        let watch = canvas.map { canvas in
            TerminalSizeWatch(fileDescriptor: 1) { [weak self] size in
                renderer.canvas = canvas(size)
                self?.resize(to: renderer)
            }
        }
        if canvas != nil { HiddenCursor.begin() }
        defer {
            if canvas != nil { HiddenCursor.end() }
            withExtendedLifetime(watch) {}
        }
        var succeeded = true
        for index in images.indices where !isStopped && !interruption.isRequested {
            let image = images[index]
            if hasNames { Console.output("\(image.name)\n") }
            do {
                try await show(image, by: renderer, isLive: canvas != nil)
            } catch  where error is CancellationError || interruption.isRequested {
                continue
            } catch {
                Console.problem("alcedo: \(image.name): \(image.withoutPassword("\(error)"))")
                succeeded = false
            }
        }
        return succeeded
    }

    /// Ends what is going on.
    func stop() {
        isStopped = true
        binder?.cancel()
        view?.stop()
    }

    private func show(_ image: ImageArgument, by renderer: TerminalRenderer, isLive: Bool) async throws {
        let request = try image.request.get()
        let view = TerminalView(
            renderer: renderer, redrawsInPlace: isLive, frames: isLive ? frames : nil, playCount: playCount
        ) { Console.output($0) }
        let binder = ImageBinder(view: view, pipeline: pipeline)
        (self.view, self.binder, shown) = (view, binder, nil)
        var size: PixelSize
        repeat {
            size = view.renderer.pixelSize
            _ = try await withCheckedThrowingContinuation { result in
                binder.load(request, options: BindingOptions(keepsCurrentImage: true)) { result.resume(with: $0) }
            }
        } while Self.isLarger(view.renderer.pixelSize, than: size) && !isStopped
        shown = (request, size)
        tally.add()
        await view.finish()
        shown = nil
    }

    /// A picture that was decoded for a smaller terminal is decoded again, while the old one goes on.
    private func resize(to renderer: TerminalRenderer) {
        view?.resize(to: renderer.canvas)
        guard let (request, size) = shown, Self.isLarger(renderer.pixelSize, than: size), !isStopped else { return }
        shown = (request, renderer.pixelSize)
        binder?.load(request, options: BindingOptions(keepsCurrentImage: true))
    }

    private static func isLarger(_ size: PixelSize, than other: PixelSize) -> Bool {
        size.width > other.width || size.height > other.height
    }
}

/// Hides the terminal's cursor until the program ends, whichever way, but not from the shell, to which Ctrl-Z leads meanwhile.
private enum HiddenCursor {
    private static var hiding: StaticString { "\u{1B}[?25l" }
    private static var showing: StaticString { "\u{1B}[?25h" }
    /// Also ends the part of a picture or a colour that may be the last that the terminal has got.
    private static var restoring: StaticString { "\u{1B}\\\u{1B}[0m\u{1B}[?25h" }

    static func begin() {
        TerminalRestoration.begin {
            for number in [SIGTSTP, SIGCONT] { signal(number, SIG_IGN) }
            put(restoring)
        }
        Console.output("\(hiding)")
        if !Interruption.isIgnored(SIGQUIT) { signal(SIGQUIT, showAndRaise) }
        guard !Interruption.isIgnored(SIGTSTP) else { return }
        signal(SIGTSTP, showAndRaise)
        signal(SIGCONT, hideAgain)
    }

    static func end() {
        for number in [SIGTSTP, SIGCONT, SIGQUIT] where !Interruption.isIgnored(number) { signal(number, nil) }
        Console.output("\(showing)")
        TerminalRestoration.end()
    }

    /// As handlers of signals may. A terminal that takes nothing does not keep the process.
    private static func put(_ text: StaticString) {
        var terminal = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&terminal, 1, 250) > 0 { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }
    }

    /// Shows the cursor, and then stops or ends the process as if nobody had listened.
    private static let showAndRaise: @convention(c) (Int32) -> Void = { number in
        let before = errno
        put(restoring)
        signal(number, nil)
        // Comes when this handler has ended.
        raise(number)
        errno = before
    }

    private static let hideAgain: @convention(c) (Int32) -> Void = { _ in
        let before = errno
        put(hiding)
        signal(SIGTSTP, HiddenCursor.showAndRaise)
        errno = before
    }
}
