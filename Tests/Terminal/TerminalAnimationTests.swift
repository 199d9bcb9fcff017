import AlcedoCore
import AlcedoLibc
import AlcedoTesting
import AlcedoViewBinding
import Dispatch
import TestSupport
import Testing

@testable import AlcedoTerminal

@Suite(.timeLimit(.minutes(10))) @MainActor struct TerminalAnimationTests {
    @MainActor private final class Screen {
        private(set) var output: [String] = []
        private var reader: CheckedContinuation<Void, Never>?

        func write(_ text: String) {
            output.append(text)
            reader?.resume()
            reader = nil
        }

        /// Returns once there are this many pieces of output.
        func wait(for count: Int) async {
            while output.count < count { await withCheckedContinuation { reader = $0 } }
        }
    }

    /// A black and a white frame of 100 ms. The white one is decoded after its release.
    private final class HeldFrames: ImageFrameSource {
        private let gate = DispatchSemaphore(value: 0)
        let canvasSize = PixelSize(width: 1, height: 1)
        let playCount: Int? = 1
        let frameCount = 2
        let cost = 0

        func delay(at index: Int) -> Duration { .milliseconds(100) }
        func rawDelay(at index: Int) -> Duration { .milliseconds(100) }

        func frame(at index: Int) throws -> PixelBuffer {
            gate.wait()
            return .grays([255], width: 1)
        }

        func release() { gate.signal() }
    }

    private let clock = ManualClock()
    private let screen = Screen()
    private let view: TerminalView
    /// Gray frames of one cell, each lighter than the previous one.
    private let animation = DecodedImage(
        pixels: .grays([0], width: 1),
        frames: MadeFrames(
            PixelSize(width: 1, height: 1), playCount: 2,
            [0, 128, 255].map { (.grays([$0], width: 1), .milliseconds(100)) }))
    private let up = "\u{1B}[1A"

    init() {
        let renderer = TerminalRenderer(canvas: TerminalCanvas(columns: 80, rows: 24), depth: .none)
        view = TerminalView(
            renderer: renderer, redrawsInPlace: true, frames: FramePool(), clock: clock, write: screen.write)
    }

    /// Advances the clock to the next frame. Late frames wake the view, so that nothing depends on the decoder's speed.
    private func nextFrame() async throws {
        let count = screen.output.count
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        await screen.wait(for: count + 1)
    }

    @Test func `an animation plays in place as often as its loop count says`() async throws {
        view.display(.image(animation, from: .memory))
        for _ in 0..<5 { try await nextFrame() }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        await view.finish()

        let frames = [" ", "+", "@", " ", "+", "@"]
        #expect(screen.output == zip(["", up, up, up, up, up], frames).map { $0 + $1 + "\n" })
    }

    @Test func `the loop count can be set, and a still image ends at once`() async throws {
        view.playCount = 1
        view.display(.image(animation, from: .memory))
        for _ in 0..<2 { try await nextFrame() }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))
        await view.finish()
        #expect(screen.output.count == 3)

        view.display(.image(DecodedImage(pixels: .grays([255], width: 1)), from: .memory))
        await view.finish()
        #expect(screen.output.last == up + "@\n")
    }

    @Test func `an animation plays in reverse, jumps to a frame, and stops at the rate zero`() async throws {
        view.playbackMode = .reverse
        view.display(.image(animation, from: .memory))
        // The image itself, then the last frame, and then the one before it.
        await screen.wait(for: 2)
        #expect(screen.output.last == up + "@\n")
        try await nextFrame()
        #expect(screen.output.last == up + "+\n")
        #expect(view.frameIndex == 1)

        view.rate = 0
        await view.finish()
        view.frameIndex = 2
        await screen.wait(for: 4)
        #expect(screen.output.last == up + "@\n")
        await view.finish()

        view.rate = 1
        try await nextFrame()
        #expect(screen.output.last == up + "+\n")
        view.stop()
        #expect(view.frameIndex == nil)
    }

    @Test func `a last frame that is decoded after its time is shown`() async throws {
        let frames = HeldFrames()
        view.display(.image(DecodedImage(pixels: .grays([0], width: 1), frames: frames), from: .memory))
        // A view that does not wait for the frame ends, and this task sleeps in its place.
        let end = Task { @MainActor [view, clock] in
            await view.finish()
            try await clock.sleep(for: .seconds(1))
        }
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(100))
        }
        try await clock.waitForSleepers(count: 1)

        frames.release()
        await view.finish()

        #expect(screen.output == [" \n", up + "@\n"])
        end.cancel()
    }

    @Test func `an animation ends without a last frame that cannot be decoded`() async throws {
        let frames = MadeFrames(
            PixelSize(width: 1, height: 1), playCount: 1,
            [(.grays([0], width: 1), .milliseconds(100)), (nil, .milliseconds(100))])
        view.display(.image(DecodedImage(pixels: .grays([0], width: 1), frames: frames), from: .memory))
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(100))
        }

        await view.finish()

        #expect(screen.output == [" \n"])
    }

    @Test func `another image and stopping end an animation`() async throws {
        view.display(.image(animation, from: .memory))
        try await nextFrame()
        try await clock.waitForSleepers(count: 1)
        // It returns when the animation's task has ended.
        let replaced = Task.immediate { await view.finish() }
        view.display(.placeholder(DecodedImage(pixels: .grays([255], width: 1))))
        try #require(clock.sleeperCount == 0)
        await replaced.value
        #expect(screen.output == [" \n", up + "+\n", up + "@\n"])

        view.display(.image(animation, from: .memory))
        try await clock.waitForSleepers(count: 1)
        let stopped = Task.immediate { await view.finish() }
        view.stop()
        try #require(clock.sleeperCount == 0)
        await stopped.value
        #expect(screen.output.last == up + " \n")
    }

    @Test func `canceling the waiting task ends the animation`() async throws {
        view.display(.image(animation, from: .memory))
        try await nextFrame()
        try await clock.waitForSleepers(count: 1)
        let end = Task.immediate { await view.finish() }

        end.cancel()
        await end.value
        try #require(clock.sleeperCount == 0)
        // It returns when the animation's task has ended.
        await view.finish()

        #expect(screen.output == [" \n", up + "+\n"])
    }

    @Test func `an animation begins after the one it replaces has ended`() async throws {
        view.display(.image(animation, from: .memory))
        let end = Task { @MainActor in
            await view.finish()
            return screen.output.count
        }
        try await nextFrame()
        view.playCount = 1
        view.display(.image(animation, from: .memory))
        for _ in 0..<2 { try await nextFrame() }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(100))

        #expect(await end.value == 5)
    }

    @Test func `a new size draws the image again on a clear screen`() {
        let wide = DecodedImage(pixels: .grays([255, 255, 255, 255], width: 2))
        view.display(.image(wide, from: .memory))

        view.resize(to: TerminalCanvas(columns: 1, rows: 5))
        view.resize(to: TerminalCanvas(columns: 1, rows: 5))

        #expect(screen.output == ["@@\n", "\u{1B}[2J\u{1B}[H", "@\n"])
        #expect(view.displaySize == .target(TargetSize(width: 1, height: 10)))
    }

    @Test func `an image hidden by a terminal of zero size returns with the next size`() {
        let wide = DecodedImage(pixels: .grays([255, 255, 255, 255], width: 2))
        view.display(.image(wide, from: .memory))

        view.resize(to: TerminalCanvas(columns: 0, rows: 0))
        view.resize(to: TerminalCanvas(columns: 1, rows: 5))

        let clear = "\u{1B}[2J\u{1B}[H"
        #expect(screen.output == ["@@\n", clear, clear, "@\n"])
    }

    @Test func `a Kitty image is replaced by number and removed with the content`() {
        let cell = PixelSize(width: 10, height: 20)
        let renderer = TerminalRenderer(
            canvas: TerminalCanvas(columns: 8, rows: 4), depth: .none, graphics: .kitty(cell: cell))
        let view = TerminalView(renderer: renderer, redrawsInPlace: true, id: 9, write: screen.write)

        view.display(.image(animation, from: .memory))
        view.display(.nothing)

        #expect(screen.output[0].contains("a=T,f=24,s=1,v=1,i=9,p=1,C=1,"))
        #expect(screen.output[1] == "\(up)\u{1B}_Ga=d,d=I,i=9,q=2\u{1B}\\\u{1B}[J")
    }

    @Test func `switching the protocol removes the Kitty image`() {
        let cell = PixelSize(width: 10, height: 20)
        let canvas = TerminalCanvas(columns: 8, rows: 4)
        let renderer = TerminalRenderer(canvas: canvas, depth: .none, graphics: .kitty(cell: cell))
        let view = TerminalView(renderer: renderer, redrawsInPlace: true, id: 9, write: screen.write)
        let white = DecodedImage(pixels: .grays([255], width: 1))
        view.display(.image(white, from: .memory))

        view.renderer = TerminalRenderer(canvas: canvas, depth: .none)
        view.display(.image(white, from: .memory))
        view.display(.image(white, from: .memory))

        let removal = "\u{1B}_Ga=d,d=I,i=9,q=2\u{1B}\\"
        #expect(screen.output.dropFirst() == ["\(up)\(removal)\u{1B}[J@\n", "\(up)@\n"])
    }

    @Test func `a change of the terminal's size is reported`() async throws {
        let terminal = try PseudoTerminal()
        let sizes = TerminalCanvas.changes(fileDescriptor: terminal.inside)
        try terminal.resize(columns: 33, rows: 11)

        kill(getpid(), SIGWINCH)

        var iterator = sizes.makeAsyncIterator()
        let size = await iterator.next()
        #expect(size == TerminalCanvas(columns: 33, rows: 11))
    }
}
