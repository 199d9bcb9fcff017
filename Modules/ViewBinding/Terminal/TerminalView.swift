public import AlcedoCore
public import AlcedoViewBinding

/// A view that shows images, including animated ones, in a terminal.
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
        /// Whether the terminal stores the image under the view's number and draws it on top of the text.
        var isStored: Bool
    }

    /// The renderer of the next image.
    package var renderer: TerminalRenderer
    /// The number of times animations play; nil for the number in their files. Changes apply from the next animation
    /// on.
    package var playCount: Int?
    private let redrawsInPlace: Bool
    /// The number of the image in a terminal that stores images; nil if the view does not redraw in place.
    private let id: UInt32?
    private let frames: FramePool?
    private let clock: any TimeSource
    private let write: @MainActor (String) -> Void
    private var image: DecodedImage?
    private var visible: Visible?
    private var animator: ImageAnimator?
    private var playback: Task<Void, Never>?

    /// Creates a view that shows nothing.
    ///
    /// - Parameters:
    ///   - renderer: The renderer that converts images to text.
    ///   - redrawsInPlace: Whether an image replaces the previous one, by moving the cursor up. This requires a
    ///     terminal, no other output in between, and a canvas with fewer rows than the terminal, because the cursor
    ///     stays on the line below the image. If false, images follow one another. Default: false.
    ///   - frames: The pool of animation frames, preferably one for all views; nil to show only the first frame of
    ///     animations. Default: nil.
    ///   - playCount: The number of times animations play. Values below one are treated as one. Default: nil, for the
    ///     number in their files.
    ///   - clock: The clock whose uptime drives animations. Default: the system clock.
    ///   - id: The number of the view's image in a terminal with the Kitty protocol, used if the view redraws in place.
    ///     It must be greater than zero and different from all other images in the terminal, including those of other
    ///     processes. Default: a random number.
    ///   - write: A closure that receives texts in order and writes them. The texts contain line feeds.
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

    /// The size of the renderer's canvas in pixels.
    public var displaySize: DisplaySize { .target(TargetSize(renderer.pixelSize)) }

    /// Draws the content, and plays the animation of a requested image if the view has a pool of frames. Other content,
    /// such as a placeholder, is not animated.
    public func display(_ content: DisplayContent) {
        stop()
        show(content.image)
        if case .image(let image, from: _) = content { play(image) }
    }

    /// Applies a new size of the terminal.
    ///
    /// If the view redraws in place and shows an image, it clears the screen and draws the image again, because the
    /// terminal may have wrapped lines differently. Otherwise, the size applies from the next image on. An image that
    /// was decoded for a smaller terminal keeps its size: load its request again to enlarge it.
    public func resize(to canvas: TerminalCanvas) {
        guard canvas != renderer.canvas else { return }
        renderer.canvas = canvas
        guard redrawsInPlace, image != nil else { return }
        // ED and CUP (ECMA-48).
        write("\(removal)\u{1B}[2J\u{1B}[H")
        visible = nil
        draw()
    }

    // MARK: Animations

    /// The order in which the frames of animations are played. Default: forward.
    public var playbackMode = PlaybackMode.forward {
        didSet {
            animator?.playbackMode = playbackMode
            resume()
        }
    }

    /// The speed of animations, as that of an ``/AlcedoViewBinding/ImageAnimator``. Zero and negative values stop them,
    /// and ``finish()`` then returns. Default: 1.
    public var rate = 1.0 {
        didSet {
            animator?.rate = rate
            resume()
        }
    }

    /// The zero-based index of the due frame of the shown animation; nil if no animation is shown.
    ///
    /// Set it to jump to another frame. An index out of range is treated as the nearest valid index. Setting it has no
    /// effect without an animation.
    public var frameIndex: Int? {
        get { animator?.frameIndex }
        set {
            guard let animator, let newValue else { return }
            animator.frameIndex = newValue
            resume()
        }
    }

    /// Stops the animation. The current frame stays.
    package func stop() {
        playback?.cancel()
        (animator, playback) = (nil, nil)
    }

    /// Waits until the animation has finished its plays and its last frame is shown, or content without an animation
    /// replaces it. Does not wait for a frame that cannot be decoded. Returns immediately if no animation plays. If
    /// another animation replaces the current one, waits for the new animation as well.
    ///
    /// Canceling the waiting task stops the animation, which is the way to end an animation that repeats forever. The
    /// current frame stays.
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
        animator.playbackMode = playbackMode
        animator.rate = rate
        self.animator = animator
        resume()
    }

    /// Plays the animation from its position. The playback may have ended, or may sleep until a frame is due that has
    /// changed since.
    private func resume() {
        guard let animator else { return }
        playback?.cancel()
        playback = Task { [weak self, clock] in await Self.play(animator, by: clock) { self?.show($0) } }
    }

    private static func play(
        _ animator: ImageAnimator, by clock: any TimeSource, _ show: @MainActor (DecodedImage) -> Void
    ) async {
        // A task that another one has replaced leaves the animator alone.
        guard !Task.isCancelled else { return }
        var pause: Task<Void, any Error>?
        animator.onLateFrame = { pause?.cancel() }
        while !Task.isCancelled {
            if let frame = animator.advance(to: clock.uptime) { show(frame) }
            // The last frame has no successor, but stays visible for its full delay. If it is still late after that,
            // the task sleeps for a long time, until `onLateFrame` ends the sleep.
            let lateDeadline = animator.isLate ? clock.uptime + .seconds(86_400) : nil
            guard let deadline = animator.nextDeadline ?? animator.endDeadline ?? lateDeadline else { return }
            let sleep = Task { try await clock.sleep(for: deadline - clock.uptime) }
            pause = sleep
            // The sleep ends early when a late frame arrives or this task is canceled. The loop handles both.
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

    /// Returns the text to write before the next image. An image of the same size is drawn over the previous one, to
    /// avoid flicker.
    private func erasing(for next: Visible?) -> String {
        guard redrawsInPlace, let visible else { return "" }
        // CUU and ED: moves up over the previous image, and clears from there on.
        let up = "\u{1B}[\(visible.rows)A"
        // An image with the same number replaces the stored one. Text or an empty view does not.
        let removal = next?.isStored == true ? "" : self.removal
        let isCovered = next?.rows == visible.rows && next?.columns == visible.columns && removal.isEmpty
        return isCovered ? up : "\(up)\(removal)\u{1B}[J"
    }

    /// The text that removes the visible image from a terminal that stores it; empty if no image is stored.
    private var removal: String {
        if let id, visible?.isStored == true { KittyText.remove(id) } else { "" }
    }
}
