import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoTerminal

/// A presenter that shows images on standard output, one after another.
@MainActor final class TerminalPresenter {
    private let pipeline: ImagePipeline
    private let playCount: Int?
    private let interruption: Interruption
    private let tally: RunTally
    private let frames = FramePool(pressureSource: SystemMemoryPressureSource())
    private var view: TerminalView?
    private var binder: ImageBinder?
    /// The request of the complete image on the screen, and the size that the image was decoded for. Nil while an image
    /// is being loaded, and after it was shown.
    private var shown: (request: ImageRequest, size: PixelSize)?
    private var isStopped = false

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that loads the images.
    ///   - playCount: The number of times that animations are played, or nil for the number that each file stores.
    ///   - interruption: The interruption, after which no further image is started. It ends downloads before ``stop()``
    ///     is called.
    ///   - tally: The counter of the images that were shown.
    init(pipeline: ImagePipeline, playCount: Int?, interruption: Interruption, tally: RunTally) {
        self.pipeline = pipeline
        self.tally = tally
        self.playCount = playCount
        self.interruption = interruption
    }

    /// Shows the images, and prints the error of each image that fails to standard error. Returns whether no image
    /// failed. An image that an interruption ends has not failed.
    ///
    /// - Parameters:
    ///   - images: The images to show, in order.
    ///   - hasNames: Whether each image's name is printed above it.
    ///   - renderer: The renderer of the images.
    ///   - canvas: Returns the canvas for a new size of the terminal. If nil, the output cannot be redrawn, and only
    ///     the first frame of animations is shown.
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
                Console.problem("alcedo: \(image.name): \(image.problem(error))")
                succeeded = false
            }
        }
        return succeeded
    }

    /// Cancels the current load and stops the current animation. No further image is shown.
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

    /// Redraws the current image. If the terminal grew, decodes the image again and shows the old one in the meantime.
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

/// The terminal's cursor, which is hidden between ``begin()`` and ``end()``. The cursor is also shown when the process
/// exits or SIGQUIT ends it, and while Ctrl-Z suspends it.
private enum HiddenCursor {
    private static var hiding: StaticString { "\u{1B}[?25l" }
    private static var showing: StaticString { "\u{1B}[?25h" }
    /// Escape codes that restore the terminal. They also end an incomplete image or color sequence that the terminal
    /// may have received last.
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

    /// Writes to the terminal with async-signal-safe calls only. Waits at most 250 ms for a terminal that accepts no
    /// output, and then discards the text.
    private static func put(_ text: StaticString) {
        var terminal = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&terminal, 1, 250) > 0 { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }
    }

    /// Shows the cursor, and then raises the signal again with its default action.
    private static let showAndRaise: @convention(c) (Int32) -> Void = { number in
        let before = errno
        put(restoring)
        signal(number, nil)
        // The signal is delivered after this handler returns.
        raise(number)
        errno = before
    }

    /// Hides the cursor after the program was continued, and installs the handler of `SIGTSTP` again.
    private static let hideAgain: @convention(c) (Int32) -> Void = { _ in
        let before = errno
        put(hiding)
        signal(SIGTSTP, HiddenCursor.showAndRaise)
        errno = before
    }
}
