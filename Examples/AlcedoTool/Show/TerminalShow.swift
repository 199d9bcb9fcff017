import Alcedo
import ExampleSupport

/// Shows one image after another on standard output.
@MainActor final class TerminalShow {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"

    private let pipeline: ImagePipeline
    private let playCount: Int?
    private let pool = FramePool(pressureSource: SystemMemoryPressureSource())
    private var player: TerminalPlayer?
    private var binder: ImageBinder?
    private var isStopped = false

    /// - Parameter playCount: How many times animations are played; nil: as the files say.
    init(pipeline: ImagePipeline, playCount: Int?) {
        self.pipeline = pipeline
        self.playCount = playCount
    }

    /// Shows the images, several with their names; returns whether all could be.
    ///
    /// - Parameter canvas: Gives the canvas for a new size of the terminal, which is drawn over while animations are played.
    ///   nil: the output is no such terminal, and of animations the first frame is shown.
    func show(
        _ images: [ImageArgument], by renderer: TerminalRenderer,
        resizing canvas: (@MainActor (TerminalCanvas) -> TerminalCanvas)?
    ) async -> Bool {
        var renderer = renderer
        let watch = canvas.map { canvas in
            TerminalSizeWatch(fileDescriptor: 1) { [weak self] size in
                renderer.canvas = canvas(size)
                self?.player?.resize(to: renderer.canvas)
            }
        }
        if canvas != nil { Console.output(Self.hideCursor) }
        defer {
            if canvas != nil { Console.output(Self.showCursor) }
            withExtendedLifetime(watch) {}
        }
        var isGood = true
        for image in images where !isStopped {
            if images.count > 1 { Console.output("\(image.name)\n") }
            do {
                try await show(image, by: renderer, isLive: canvas != nil)
            } catch is CancellationError {
                continue
            } catch {
                Console.problem("alcedo: \(image.name): \(image.withoutPassword("\(error)"))")
                isGood = false
            }
        }
        return isGood
    }

    /// Ends what is going on.
    func stop() {
        isStopped = true
        binder?.cancel()
        player?.stop()
    }

    private func show(_ image: ImageArgument, by renderer: TerminalRenderer, isLive: Bool) async throws {
        let request = try image.request.get()
        let view = TerminalView(renderer: renderer, redrawsInPlace: isLive) { Console.output($0) }
        let player = isLive ? TerminalPlayer(view: view, pool: pool) : nil
        player?.playCount = playCount
        let binder = ImageBinder(view: player ?? view, loader: pipeline)
        (self.player, self.binder) = (player, binder)
        _ = try await withCheckedThrowingContinuation { result in
            binder.bind(request) { result.resume(with: $0) }
        }
        await player?.finish()
    }
}
