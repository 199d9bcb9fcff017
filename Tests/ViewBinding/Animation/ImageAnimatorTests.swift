import AlcedoCore
import AlcedoTesting
import Testing

@testable import AlcedoViewBinding

@Suite(.timeLimit(.minutes(10))) @MainActor struct ImageAnimatorTests {
    private let clock = ManualClock(uptime: .seconds(1_000))
    private let pressure = ManualMemoryPressureSource()
    private let pool: FramePool

    init() { pool = FramePool(byteLimit: 1 << 20, pressureSource: pressure) }

    private func animator(_ frames: FakeFrames, in pool: FramePool? = nil) throws -> ImageAnimator {
        try #require(ImageAnimator(frames.image, pool: pool ?? self.pool))
    }

    /// Returns the image to display after this many further milliseconds.
    private func shown(by animator: ImageAnimator, after milliseconds: Int) -> UInt8? {
        clock.advance(by: .ms(milliseconds))
        return animator.shows(at: clock.uptime)
    }

    @Test func `a still image has no animator`() {
        #expect(ImageAnimator(.gray(1), pool: pool) == nil)
        #expect(ImageAnimator(FakeFrames(count: 1).image, pool: pool) == nil)
    }

    @Test func `each frame is shown for its delay`() async throws {
        let animator = try animator(FakeFrames(delays: [.ms(30), .ms(50), .ms(20)]))
        #expect(shown(by: animator, after: 0) == nil)
        await animator.decodingEnds()

        #expect(animator.nextDeadline == clock.uptime + .ms(30))
        #expect(shown(by: animator, after: 29) == nil)
        #expect(shown(by: animator, after: 1) == 1)
        #expect(animator.nextDeadline == clock.uptime + .ms(50))
        #expect(shown(by: animator, after: 49) == nil)
        #expect(shown(by: animator, after: 1) == 2)
        #expect(shown(by: animator, after: 20) == 0)
        #expect(shown(by: animator, after: 10) == nil)
        // Late by nearly a loop: two frames are skipped, and the next is on time.
        #expect(shown(by: animator, after: 95) == nil)
        #expect(animator.nextDeadline == clock.uptime + .ms(25))
        #expect(shown(by: animator, after: 25) == 1)
    }

    @Test func `the displayed image is the image with the frame's pixels`() async throws {
        var image = FakeFrames(count: 2).image
        image.scale = 2
        image.orientation = .right
        let animator = try #require(ImageAnimator(image, pool: pool))
        _ = animator.advance(to: .zero)
        await animator.decodingEnds()

        let frame = try #require(animator.advance(to: .ms(100)))

        #expect(frame.gray == 1)
        #expect(frame.scale == 2)
        #expect(frame.orientation == .right)
        #expect(!frame.isAnimated)
    }

    @Test func `an animation ends after its loops and can be played again`() async throws {
        let frames = FakeFrames(count: 3, playCount: 2)
        let animator = try animator(frames)
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect((1...5).map { _ in shown(by: animator, after: 100) } == [1, 2, 0, 1, 2])
        #expect(animator.nextDeadline == nil)
        #expect(!animator.isFinished)
        #expect(shown(by: animator, after: 100) == nil)
        #expect(animator.isFinished)

        animator.restart()
        #expect(shown(by: animator, after: 60_000) == 0)
        #expect(shown(by: animator, after: 100) == 1)
        #expect(frames.decoded == [1, 2])
    }

    @Test func `the loop count can be set`() async throws {
        let animator = try animator(FakeFrames(count: 2))
        #expect(animator.playCount == nil)
        animator.playCount = 1
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()

        #expect(shown(by: animator, after: 150) == 1)
        #expect(shown(by: animator, after: 1_000) == nil)
        #expect(animator.isFinished)
    }

    @Test func `pausing, hiding, seeking and rate take effect`() async throws {
        let animator = try animator(FakeFrames(count: 5))
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        animator.isPlaying = false
        #expect(shown(by: animator, after: 500) == nil)
        animator.frameIndex = 3
        #expect(shown(by: animator, after: 0) == 3)
        animator.isPlaying = true
        animator.rate = 2
        #expect(shown(by: animator, after: 500) == nil)
        #expect(shown(by: animator, after: 51) == 4)
        #expect(animator.frameIndex == 4)

        animator.isHidden = true
        #expect(pool.frameCount == 0)
        #expect(shown(by: animator, after: 500) == nil)
        animator.isHidden = false
        animator.rate = 1
        #expect(shown(by: animator, after: 0) == nil)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 100) == 0)
        #expect(shown(by: animator, after: 100) == 1)
    }

    @Test(arguments: [
        (PlaybackMode.reverse, [4, 3, 2, 1, 0, 4, 3] as [UInt8]), (.bounce, [1, 2, 3, 4, 3, 2, 1, 0, 1]),
        (.reversedBounce, [4, 3, 2, 1, 0, 1, 2, 3, 4, 3]),
    ])
    func `frames are shown in the order of the mode, each decoded once and in time`(
        mode: PlaybackMode, expected: [UInt8]
    ) async throws {
        let frames = FakeFrames(count: 5)
        let animator = try animator(frames)
        animator.playbackMode = mode
        #expect(animator.frameIndex == (mode == .bounce ? 0 : 4))
        var values: [UInt8] = []
        if let value = shown(by: animator, after: 0) { values.append(value) }
        await animator.decodingEnds()
        // The first frame of a reverse play is late, because the image itself is the first frame of the file.
        if let value = shown(by: animator, after: 0) { values.append(value) }
        await animator.decodingEnds()
        while values.count < expected.count {
            values.append(try #require(shown(by: animator, after: 100)))
            await animator.decodingEnds()
        }

        #expect(values == expected)
        #expect(frames.decoded.sorted() == [1, 2, 3, 4])
    }

    @Test func `an animation turns around at once, and ends where it began`() async throws {
        let animator = try animator(FakeFrames(count: 5, playCount: 1))
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 250) == 2)

        animator.playbackMode = .reverse

        #expect(shown(by: animator, after: 0) == nil)
        #expect(shown(by: animator, after: 100) == 1)
        #expect(shown(by: animator, after: 100) == 0)
        #expect(animator.nextDeadline == nil)
        #expect(shown(by: animator, after: 100) == nil)
        #expect(animator.isFinished)
        animator.restart()
        #expect(animator.frameIndex == 4)
    }

    @Test func `a late frame is skipped`() async throws {
        let frames = FakeFrames(count: 6, isHeld: true)
        let animator = try animator(frames)
        var late = 0
        animator.onLateFrame = { late += 1 }
        _ = shown(by: animator, after: 0)
        #expect(shown(by: animator, after: 100) == nil)
        #expect(shown(by: animator, after: 250) == nil)

        // Frame 3 is due, and decoding of frame 1 began long ago.
        frames.release(6)
        await animator.decodingEnds()
        await nextTurn()
        #expect(late == 1)
        #expect(frames.decoded.starts(with: [1, 3]))
        #expect(shown(by: animator, after: 0) == 3)
        #expect(shown(by: animator, after: 50) == 4)
    }

    @Test func `a late frame is displayed while a later one is pending`() async throws {
        let frames = FakeFrames(count: 6, isHeld: true)
        let animator = try animator(frames)
        _ = shown(by: animator, after: 0)
        await withCheckedContinuation { late in
            animator.onLateFrame = { late.resume() }
            #expect(shown(by: animator, after: 250) == nil)
            frames.release()
        }

        #expect(shown(by: animator, after: 0) == 1)
        animator.onLateFrame = nil
        frames.release(10)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 0) == 2)
    }

    @Test func `after a seek no earlier frame is displayed`() async throws {
        let frames = FakeFrames(count: 20, isHeld: true)
        let animator = try animator(frames)
        frames.release(4)
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 300) == 3)

        animator.frameIndex = 2
        #expect(shown(by: animator, after: 0) == 2)
        animator.frameIndex = 10
        #expect(shown(by: animator, after: 0) == nil)
        frames.release(50)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 0) == 10)
    }

    @Test func `a frame that cannot be decoded is skipped`() async throws {
        let animator = try animator(FakeFrames(count: 4, broken: [2]))
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect(shown(by: animator, after: 100) == 1)
        await animator.decodingEnds()

        #expect(shown(by: animator, after: 100) == nil)
        #expect(shown(by: animator, after: 100) == 3)
        #expect((animator.failure as? ImageDecodingError)?.code == .corrupt)
    }

    @Test func `each play ends before a damaged frame, which is requested once`() async throws {
        let frames = FakeFrames(count: 5, playCount: 3, end: 3)
        let animator = try animator(frames)
        var values: [UInt8] = []
        for step in 0..<14 {
            if let value = shown(by: animator, after: step == 0 ? 0 : 100) { values.append(value) }
            await animator.decodingEnds()
        }

        #expect(values == [1, 2, 0, 1, 2, 0, 1, 2])
        #expect(animator.isFinished)
        #expect(animator.nextDeadline == nil)
        #expect(frames.decoded.filter { $0 >= 3 } == [3])
        #expect(frames.decoded.count == 3)
    }

    @Test func `a late view learns that the due frame is damaged, and begins the next play`() async throws {
        let frames = FakeFrames(count: 5, end: 2, isHeld: true)
        let animator = try animator(frames)
        _ = shown(by: animator, after: 0)
        // The third frame is due before any is decoded.
        #expect(shown(by: animator, after: 250) == nil)
        frames.release(2)
        await animator.decodingEnds()

        #expect(animator.shows(at: clock.uptime) == nil)
        #expect(animator.frameIndex == 0)
        #expect(animator.nextDeadline == clock.uptime + .ms(100))
        frames.release(9)
        #expect(shown(by: animator, after: 100) == 1)
    }

    @Test func `a view ends the play, or is called, when damage is found during its request`() async throws {
        for attempt in 0..<1_000 {
            let frames = FakeFrames(count: 3, end: 1, isHeld: true)
            let animator = try animator(frames)
            var late = 0
            animator.onLateFrame = { late += 1 }
            _ = animator.advance(to: .zero)

            frames.release(2)
            try await frames.waitForDecode()
            // In each attempt, the decoding ends at another point of the call.
            for _ in 0..<attempt % 40 { _ = animator.isLate }
            _ = animator.advance(to: .ms(150))

            await animator.decodingEnds()
            await nextTurn()
            try #require(animator.frameIndex == 0 || late == 1)
        }
    }

    @Test func `an animation with one good frame stops`() async throws {
        let frames = FakeFrames(count: 3, end: 1)
        let animator = try animator(frames)
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()

        #expect(shown(by: animator, after: 150) == nil)
        #expect(animator.nextDeadline == nil)
        #expect(animator.frameIndex == 0)
        #expect(frames.decoded == [1])
        #expect(ImageAnimator(frames.image, pool: pool) == nil)
    }

    @Test func `views of one image share its frames`() async throws {
        let frames = FakeFrames(count: 6)
        let first = try animator(frames)
        let second = try animator(frames)
        for step in 0..<12 {
            _ = shown(by: first, after: 100)
            if step > 3 { _ = second.shows(at: clock.uptime) }
            await first.decodingEnds()
        }

        #expect(frames.decoded.sorted() == [1, 2, 3, 4, 5])
        #expect(pool.frameCount == 5)
    }

    @Test func `animations share the memory limit and have at least two frames each`() async throws {
        let bytes = try #require(PixelBuffer.byteCount(size: PixelSize(width: 1, height: 1), format: .rgba8))
        let pool = FramePool(byteLimit: 8 * bytes)
        var animators: [ImageAnimator] = []
        for _ in 0..<2 { animators.append(try animator(FakeFrames(count: 50), in: pool)) }
        for step in 0..<60 {
            for animator in animators {
                _ = animator.advance(to: .ms(step * 100))
                await animator.decodingEnds()
            }
            #expect(pool.frameCount <= 8)
        }
        #expect(pool.frameCount == 8)

        for _ in 0..<8 { animators.append(try animator(FakeFrames(count: 50), in: pool)) }
        for step in 60..<70 {
            for animator in animators {
                _ = animator.advance(to: .ms(step * 100))
                await animator.decodingEnds()
            }
        }
        #expect(pool.frameCount == 20)
    }

    @Test func `a hidden animation has no share of the memory limit`() async throws {
        let bytes = try #require(PixelBuffer.byteCount(size: PixelSize(width: 1, height: 1), format: .rgba8))
        let pool = FramePool(byteLimit: 8 * bytes)
        let hidden = try animator(FakeFrames(count: 50), in: pool)
        let seen = try animator(FakeFrames(count: 50), in: pool)
        func play(_ animators: [ImageAnimator]) async -> Int {
            for _ in 0..<30 {
                for animator in animators {
                    _ = shown(by: animator, after: 100)
                    await animator.decodingEnds()
                }
            }
            return pool.frameCount
        }
        #expect(await play([hidden, seen]) == 8)

        hidden.isHidden = true
        #expect(pool.frameCount == 4)
        #expect(await play([seen]) == 8)

        hidden.isHidden = false
        #expect(await play([hidden, seen]) == 8)
    }

    @Test func `frames are released with their views`() async throws {
        var animator: ImageAnimator? = try animator(FakeFrames(count: 6))
        _ = animator?.advance(to: .zero)
        await animator?.decodingEnds()
        #expect(pool.frameCount == 4)

        animator = nil

        #expect(pool.frameCount == 0)
    }

    @Test func `the frames of one animation can be removed, and it continues`() async throws {
        let (removed, kept) = (FakeFrames(count: 6), FakeFrames(count: 6))
        let animators = [try animator(removed), try animator(kept)]
        for animator in animators {
            _ = animator.advance(to: clock.uptime)
            await animator.decodingEnds()
        }
        #expect(pool.frameCount == 8)

        pool.removeFrames(of: removed.image)
        pool.removeFrames(of: FakeFrames(count: 6).image)
        pool.removeFrames(of: .gray(1))

        #expect(pool.frameCount == 4)
        clock.advance(by: .ms(100))
        #expect(animators[0].shows(at: clock.uptime) == nil)
        #expect(animators[1].shows(at: clock.uptime) == 1)
        await animators[0].decodingEnds()
        #expect(animators[0].shows(at: clock.uptime) == 1)
        #expect(removed.decoded.filter { $0 == 1 }.count == 2)
        #expect(kept.decoded.filter { $0 == 1 }.count == 1)
    }

    @Test func `frames are released under memory pressure, and the animation continues`() async throws {
        let frames = FakeFrames(count: 6)
        let animator = try animator(frames)
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect(pool.frameCount == 4)

        pressure.set(.warning)
        #expect(pool.frameCount == 2)
        #expect(shown(by: animator, after: 100) == 1)
        pressure.set(.critical)
        #expect(pool.frameCount == 0)

        for expected in [2, 3, 4, 5, 0, 1] as [UInt8] {
            await animator.decodingEnds()
            #expect(pool.frameCount <= 1)
            let frame = shown(by: animator, after: 100)
            await animator.decodingEnds()
            #expect((frame ?? shown(by: animator, after: 0)) == expected)
        }
        pressure.set(.normal)
        _ = shown(by: animator, after: 0)
        await animator.decodingEnds()
        #expect(pool.frameCount == 5)
    }
}
