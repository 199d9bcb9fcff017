import Testing

@testable import AlcedoViewBinding

@Suite struct PlaybackStateTests {
    private var state = PlaybackState(
        timeline: AnimationTimeline(delays: [.ms(100), .ms(100), .ms(100), .ms(100)]), playCount: nil)

    private mutating func frame(at time: Int) -> Int {
        state.advance(to: .ms(time))
        return state.frame
    }

    @Test mutating func `an animation starts at the time of the first tick`() {
        #expect(state.deadline == .zero)
        #expect(frame(at: 5_000) == 0)
        #expect(state.deadline == .ms(5_100))
        #expect(frame(at: 5_099) == 0)
        #expect(frame(at: 5_100) == 1)
    }

    @Test mutating func `late and missing ticks skip frames and keep the time`() {
        var frames: [Int] = []
        for time in [0, 117, 130, 251, 390, 401, 1_999, 2_000] { frames.append(frame(at: time)) }

        #expect(frames == [0, 1, 1, 2, 3, 0, 3, 0])
        #expect(state.deadline == .ms(2_100))
    }

    @Test mutating func `a clock that goes back is ignored`() {
        _ = frame(at: 0)
        #expect(frame(at: 250) == 2)
        #expect(frame(at: 50) == 2)
        #expect(frame(at: 300) == 3)
    }

    @Test mutating func `a paused animation resumes within its frame`() {
        _ = frame(at: 0)
        _ = frame(at: 130)
        state.setPlaying(false)
        #expect(frame(at: 10_000) == 1)
        #expect(state.deadline == nil)

        state.setPlaying(true)
        #expect(state.deadline == .ms(10_000))
        #expect(frame(at: 10_000) == 1)
        #expect(state.deadline == .ms(10_070))
        #expect(frame(at: 10_069) == 1)
        #expect(frame(at: 10_070) == 2)
    }

    @Test mutating func `an idle period needs no ticks and ends with the next tick`() {
        _ = frame(at: 0)
        _ = frame(at: 130)
        state.setPlaying(false)
        state.setPlaying(true)
        #expect(frame(at: 10_000) == 1)
        #expect(frame(at: 10_069) == 1)
        #expect(frame(at: 10_070) == 2)

        state.setHidden(true)
        state.setHidden(false)
        #expect(frame(at: 90_000) == 2)
        #expect(frame(at: 90_100) == 3)
    }

    @Test mutating func `time stops while the view is hidden`() {
        _ = frame(at: 0)
        state.setHidden(true)
        state.setPlaying(false)
        _ = frame(at: 500)
        state.setPlaying(true)
        #expect(frame(at: 900) == 0)
        state.setHidden(false)

        #expect(frame(at: 1_000) == 0)
        #expect(frame(at: 1_100) == 1)
    }

    @Test(arguments: [(2.0, 50), (0.5, 200), (1.5, 67)])
    mutating func `the rate scales time, and the deadline is the start of the next frame`(
        rate: Double, milliseconds: Int
    ) {
        state.setRate(rate)
        _ = frame(at: 0)

        for expected in [1, 2, 3, 0, 1, 2] {
            guard let deadline = state.deadline else {
                Issue.record("no deadline")
                return
            }
            state.advance(to: deadline - .nanoseconds(2))
            #expect(state.frame == (expected + 3) % 4)
            state.advance(to: deadline)
            #expect(state.frame == expected)
        }
        #expect(abs((state.deadline ?? .zero) / .ms(1) - Double(milliseconds) * 7) < 3)
    }

    @Test(arguments: [0, -1, .nan, .infinity] as [Double])
    mutating func `a rate of zero stops the animation, and another rate resumes it`(rate: Double) {
        _ = frame(at: 0)
        _ = frame(at: 150)
        state.setRate(rate)
        #expect(state.deadline == nil)
        #expect(frame(at: 9_000) == 1)

        state.setRate(1)
        #expect(frame(at: 9_000) == 1)
        #expect(frame(at: 9_050) == 2)
    }

    @Test(
        arguments: [
            (1e30, 1_000), (1e-40, 0.001), (Double.leastNonzeroMagnitude, 0.001),
            (Double.greatestFiniteMagnitude, 1_000),
        ] as [(Double, Double)])
    mutating func `an invalid rate is clamped`(rate: Double, expected: Double) {
        state.setRate(rate)
        _ = frame(at: 0)

        #expect(state.rate == expected)
        #expect(state.deadline.map { abs($0 / .ms(100) * expected - 1) < 0.001 } == true)
        state.advance(to: .seconds(Int64.max))
        #expect((0..<4).contains(state.frame))
        #expect(state.deadline != nil)
    }

    @Test(arguments: [0.001, 1, 1_000] as [Double])
    func `an animation of practically infinite loops plays`(rate: Double) {
        var state = PlaybackState(timeline: AnimationTimeline(delays: [.seconds(10), .seconds(10)]), playCount: .max)
        state.setRate(rate)
        state.advance(to: .zero)
        #expect(!state.isFinished)
        #expect(state.endDeadline == nil)
        for time in [Duration.seconds(15), .seconds(1 << 45), .seconds(Int64.max)] {
            state.advance(to: time)
            #expect((0..<2).contains(state.frame))
            _ = (state.isFinished, state.deadline, state.endDeadline)
        }
        state.seek(to: 1)
        state.setRate(1)
        state.restart()
        #expect(state.frame == 0)
    }

    @Test mutating func `changing the rate keeps the position`() {
        _ = frame(at: 0)
        _ = frame(at: 150)
        state.setRate(10)
        #expect(state.frame == 1)
        #expect(frame(at: 150) == 1)

        #expect(frame(at: 155) == 2)
        state.setRate(1)
        #expect(frame(at: 155) == 2)
        #expect(frame(at: 254) == 2)
        #expect(frame(at: 255) == 3)
    }

    @Test mutating func `a new rate does not apply to the time before the next tick`() {
        _ = frame(at: 0)
        state.setRate(10)
        #expect(state.deadline == .zero)

        #expect(frame(at: 90) == 0)
        #expect(state.deadline.map { $0 - .ms(91) < .ms(1) } == true)
        #expect(frame(at: 92) == 1)
    }

    @Test mutating func `an animation ends with its last frame`() {
        state.playCount = 2
        _ = frame(at: 0)
        #expect(frame(at: 700) == 3)
        #expect(state.deadline == nil)
        #expect(!state.isFinished)
        #expect(frame(at: 799) == 3)
        #expect(!state.isFinished)

        #expect(frame(at: 800) == 3)
        #expect(state.isFinished)
    }

    @Test mutating func `an animation restarts at the next tick, even long after its end`() {
        state.playCount = 1
        _ = frame(at: 0)
        _ = frame(at: 400)
        #expect(state.isFinished)

        state.restart()
        #expect(!state.isFinished)
        #expect(state.deadline == .ms(400))

        #expect(frame(at: 60_000) == 0)
        #expect(state.deadline == .ms(60_100))
        #expect(frame(at: 60_100) == 1)
    }

    @Test mutating func `a loop count below one is one`() {
        state.playCount = 0
        _ = frame(at: 0)

        #expect(frame(at: 399) == 3)
        #expect(frame(at: 400) == 3)
        #expect(state.isFinished)
    }

    @Test mutating func `a seek goes to the start of a frame in the same loop`() {
        state.playCount = 3
        _ = frame(at: 0)
        _ = frame(at: 550)
        state.seek(to: 3)
        #expect(state.playhead == AnimationTimeline.Playhead(play: 1, step: 3, next: .ms(800)))
        #expect(state.deadline == .ms(550))
        #expect(frame(at: 700) == 3)
        #expect(state.deadline == .ms(800))
        state.seek(to: 77)
        #expect(state.frame == 3)
        state.seek(to: -77)
        #expect(state.frame == 0)
    }

    @Test mutating func `seeks before the first tick and while paused take effect`() {
        state.seek(to: 2)
        #expect(frame(at: 100) == 2)
        #expect(frame(at: 200) == 3)
        state.setPlaying(false)
        state.seek(to: 1)
        #expect(frame(at: 9_000) == 1)
        state.setPlaying(true)
        #expect(frame(at: 9_000) == 1)
        #expect(frame(at: 9_100) == 2)
    }

    // MARK: Order

    /// Returns the frame at each multiple of a delay, beginning with a tick at zero.
    private mutating func frames(_ count: Int) -> [Int] { (0..<count).map { frame(at: 100 * $0) } }

    @Test(arguments: [
        (PlaybackMode.forward, [0, 1, 2, 3, 0, 1, 2, 3, 0]), (.reverse, [3, 2, 1, 0, 3, 2, 1, 0, 3]),
        (.bounce, [0, 1, 2, 3, 2, 1, 0, 1, 2]), (.reversedBounce, [3, 2, 1, 0, 1, 2, 3, 2, 1]),
    ])
    mutating func `a mode decides the order of the frames`(mode: PlaybackMode, expected: [Int]) {
        state.setMode(mode)
        #expect(frames(9) == expected)
        #expect(state.deadline == .ms(900))
    }

    @Test(arguments: [
        (PlaybackMode.reverse, [3, 2, 1, 0, 3, 2, 1, 0, 0, 0], 8),
        (.bounce, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 0], 12),
        (.reversedBounce, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 3], 12),
    ])
    mutating func `two plays end with the last frame, or with the frame that a play returns to`(
        mode: PlaybackMode, expected: [Int], end: Int
    ) {
        state.playCount = 2
        state.setMode(mode)
        var finished: Int?
        for (tick, expected) in expected.enumerated() {
            #expect(frame(at: 100 * tick) == expected)
            if state.isFinished { finished = finished ?? tick }
        }
        #expect(finished == end)
        #expect(state.deadline == nil)
    }

    @Test func `each frame has its own delay in every order`() {
        var state = PlaybackState(timeline: AnimationTimeline(delays: [.ms(10), .ms(20), .ms(40)]), playCount: nil)
        state.setMode(.bounce)
        var deadlines: [Duration?] = []
        for time in [0, 10, 30, 70, 90, 100] {
            state.advance(to: .ms(time))
            deadlines.append(state.deadline)
        }
        #expect(deadlines == [.ms(10), .ms(30), .ms(70), .ms(90), .ms(100), .ms(120)])
    }

    @Test mutating func `a change of the mode continues from the due frame`() {
        state.playCount = 2
        _ = frame(at: 0)
        #expect(frame(at: 650) == 2)
        state.setMode(.reverse)
        #expect(state.frame == 2)
        #expect(state.deadline == .ms(650))
        #expect(frame(at: 700) == 2)
        // The delay of the frame began at the tick, and the second play continues.
        #expect(frame(at: 799) == 2)
        #expect(frame(at: 800) == 1)
        #expect(frame(at: 900) == 0)
        #expect(state.deadline == nil)
    }

    @Test mutating func `a seek keeps the direction of a play that returns`() {
        state.setMode(.bounce)
        _ = frame(at: 0)
        #expect(frame(at: 500) == 1)
        state.seek(to: 2)
        #expect(frame(at: 500) == 2)
        #expect(frame(at: 600) == 1)
        #expect(frame(at: 700) == 0)
        state.seek(to: 1)
        #expect(frame(at: 700) == 1)
        #expect(frame(at: 800) == 2)
    }

    @Test(arguments: [(2.0, 50), (0.5, 200)])
    mutating func `the rate applies in reverse`(rate: Double, milliseconds: Int) {
        state.setMode(.reverse)
        state.setRate(rate)
        _ = frame(at: 0)
        #expect(frame(at: milliseconds - 1) == 3)
        #expect(frame(at: milliseconds + 1) == 2)
        state.setRate(0)
        #expect(frame(at: 9_000) == 2)
        #expect(state.deadline == nil)
    }

    @Test(arguments: PlaybackMode.allCases, [1, 2, 3])
    mutating func `damage shortens every order`(mode: PlaybackMode, count: Int) {
        state.setMode(mode)
        _ = frame(at: 0)
        let before = frame(at: 100)
        state.end(before: count)
        let shown = state.frame
        #expect(shown < count)
        if before < count { #expect(shown == before) }
        var seen: Set<Int> = []
        for tick in 2..<12 { seen.insert(frame(at: 100 * tick)) }
        #expect(seen == Set(0..<count))
    }
}

@Suite struct FrameOrderTests {
    @Test(arguments: PlaybackMode.allCases, 1...6)
    func `steps and frames belong together`(mode: PlaybackMode, count: Int) {
        let order = FrameOrder(frameCount: count, mode: mode)
        let frames = (0..<order.stepCount).map { order.frame(at: $0) }

        #expect(Set(frames) == Set(0..<count))
        for (step, frame) in frames.enumerated() {
            #expect(order.step(of: frame, isReturning: order.isReturning(step)) == step)
            for other in 0..<count {
                let rotated = frames[step...] + frames[..<step]
                #expect(order.distance(from: step, to: other) == Array(rotated).firstIndex(of: other))
            }
        }
        // No frame is shown twice in a row, also from one play to the next.
        if count > 1 { #expect(zip(frames, frames.dropFirst() + frames.prefix(1)).allSatisfy { $0 != $1 }) }
    }
}
