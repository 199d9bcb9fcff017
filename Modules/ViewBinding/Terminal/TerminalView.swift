public import AlcedoCore
public import AlcedoViewBinding

/// A view that shows images in a terminal, and plays those that are animated.
///
/// ```swift
/// import Alcedo
/// import AlcedoTerminal
///
/// @MainActor func makeView() -> TerminalView {
///     let renderer = TerminalRenderer(canvas: TerminalCanvas(columns: 80, rows: 24), depth: .trueColor)
///     return TerminalView(renderer: renderer, redrawsInPlace: true, frames: FramePool()) { print($0, terminator: "") }
/// }
/// ```
@MainActor public final class TerminalView: ImageDisplaying {
    private struct Visible {
        var rows: Int
        var columns: Int
        /// Whether the terminal keeps the image under the view's number, over the text.
        var isStored: Bool
    }

    /// Draws the next image.
    package var renderer: TerminalRenderer
    /// How many times animations play; nil: as their files say. Counts from the next animation on.
    package var playCount: Int?
    private let redrawsInPlace: Bool
    /// The number of the image in the terminal, where that keeps images.
    private let id: UInt32?
    private let frames: FramePool?
    private let clock: any TimeSource
    private let write: @MainActor (String) -> Void
    private var image: DecodedImage?
    private var visible: Visible?
    private var playback: Task<Void, Never>?

    /// Creates a view that shows nothing.
    ///
    /// - Parameters:
    ///   - renderer: Turns images into text.
    ///   - redrawsInPlace: Whether an image replaces the one before, by moving the cursor up over it. Only for a terminal,
    ///     only if nothing else was written in between, and with a canvas of fewer rows than the terminal has, as the cursor
    ///     rests on the line below. Otherwise images follow one another. Default: false.
    ///   - frames: The frames of animations, best one pool for all views. nil: the first frame is shown. Default: nil.
    ///   - playCount: How many times animations play; below one counts as one. nil: as their files say. Default: nil.
    ///   - clock: Its uptime is the time of animations. Default: the clock of the system.
    ///   - id: The number of the view's image in a terminal with the Kitty protocol, when the view redraws in place. It is
    ///     above zero, and that of no other image there, also of other processes. Default: a random number.
    ///   - write: Gets text with line feeds, and puts it out in order.
    public init(
        renderer: TerminalRenderer, redrawsInPlace: Bool = false, frames: FramePool? = nil, playCount: Int? = nil,
        clock: any TimeSource = SystemClock(), id: UInt32 = .random(in: 1...UInt32.max),
        write: @escaping @MainActor (String) -> Void
    ) {
        self.renderer = renderer
        self.redrawsInPlace = redrawsInPlace
        self.frames = frames
        self.playCount = playCount
        self.clock = clock
        self.id = redrawsInPlace ? id : nil
        self.write = write
    }

    isolated deinit { stop() }

    public var displaySize: DisplaySize { .target(TargetSize(renderer.pixelSize)) }

    public func display(_ content: DisplayContent) {
        stop()
        show(content.image)
        if case .image(let image, from: _) = content { play(image) }
    }

    /// Takes over a new size of the terminal.
    ///
    /// A view that redraws in place clears the screen and draws its image again, because the terminal may have broken lines
    /// elsewhere. Otherwise the size counts from the next image on. An image that was decoded for a smaller terminal stays as
    /// small: load its request again.
    public func resize(to canvas: TerminalCanvas) {
        guard canvas != renderer.canvas else { return }
        renderer.canvas = canvas
        guard redrawsInPlace, image != nil else { return }
        // ED and CUP of ECMA-48.
        write("\(removal)\u{1B}[2J\u{1B}[H")
        visible = nil
        draw()
    }

    // MARK: Animations

    /// Ends the animation. The frame that is shown stays.
    package func stop() {
        playback?.cancel()
        playback = nil
    }

    /// Returns when the animation has played as often as it should; at once for a still image. If another animation replaces
    /// it, waits for that one, too.
    ///
    /// Cancelling the task that waits ends the animation. The frame that is shown stays.
    public func finish() async {
        while let playback {
            await withTaskCancellationHandler {
                await playback.value
            } onCancel: {
                playback.cancel()
            }
            if self.playback == playback { return }
        }
    }

    private func play(_ image: DecodedImage) {
        guard let frames, let animator = ImageAnimator(image, pool: frames) else { return }
        if let playCount { animator.playCount = playCount }
        playback = Task { [weak self, clock] in await Self.play(animator, by: clock) { self?.show($0) } }
    }

    private static func play(
        _ animator: ImageAnimator, by clock: any TimeSource, _ show: @MainActor (DecodedImage) -> Void
    ) async {
        var pause: Task<Void, any Error>?
        animator.onLateFrame = { pause?.cancel() }
        while !Task.isCancelled {
            if let frame = animator.advance(to: clock.uptime) { show(frame) }
            // The last frame has no successor, and stays until its time is over, too.
            guard let deadline = animator.nextDeadline ?? animator.endDeadline else { return }
            let sleep = Task { try await clock.sleep(for: deadline - clock.uptime) }
            pause = sleep
            // Ends early with a late frame, or with this task. Both are handled above.
            await withTaskCancellationHandler {
                _ = await sleep.result
            } onCancel: {
                sleep.cancel()
            }
        }
    }

    // MARK: Drawing

    private func show(_ image: DecodedImage?) {
        self.image = image
        draw()
    }

    private func draw() {
        let drawing = image.flatMap { renderer.drawing(of: $0, id: id) }
        let isStored = if case .kitty = renderer.graphics { id != nil } else { false }
        let next = drawing.map { Visible(rows: $0.rows, columns: $0.columns, isStored: isStored) }
        let text = erasing(for: next) + (drawing?.text ?? "")
        visible = next
        if !text.isEmpty { write(text) }
    }

    /// The text before the next image. An image of the same size covers the one before, without a moment of nothing.
    private func erasing(for next: Visible?) -> String {
        guard redrawsInPlace, let visible else { return "" }
        // CUU and ED: up over the old image, then clear from there on.
        let up = "\u{1B}[\(visible.rows)A"
        // An image of the same number replaces the one that is stored; text, or nothing, does not.
        let removal = next?.isStored == true ? "" : self.removal
        let isCovered = next?.rows == visible.rows && next?.columns == visible.columns && removal.isEmpty
        return isCovered ? up : "\(up)\(removal)\u{1B}[J"
    }

    /// Removes the visible image from the terminal that stores it.
    private var removal: String {
        if let id, visible?.isStored == true { KittyText.remove(id) } else { "" }
    }
}
