import Testing

@testable import AlcedoViewBinding

@Suite struct PlaybackStateTests {
    private var state = PlaybackState(
        timeline: AnimationTimeline(delays: [.ms(100), .ms(100), .ms(100), .ms(100)]), playCount: nil)

    private mutating func frame(at time: Int) -> Int {
        state.advance(to: .ms(time))
        return state.playhead.frame
    }

    @Test mutating func `an animation starts at the time of the first tick`() {
        #expect(state.deadline == nil)
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
        #expect(state.deadline == nil)
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
        _ = frame(at: 0)
        state.setRate(rate)

        for expected in [1, 2, 3, 0, 1, 2] {
            guard let deadline = state.deadline else {
                Issue.record("no deadline")
                return
            }
            state.advance(to: deadline - .nanoseconds(2))
            #expect(state.playhead.frame == (expected + 3) % 4)
            state.advance(to: deadline)
            #expect(state.playhead.frame == expected)
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
        _ = frame(at: 0)
        state.setRate(rate)

        #expect(state.rate == expected)
        #expect(state.deadline.map { abs($0 / .ms(100) * expected - 1) < 0.001 } == true)
        state.advance(to: .seconds(Int64.max))
        #expect((0..<4).contains(state.playhead.frame))
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
            #expect((0..<2).contains(state.playhead.frame))
            _ = (state.isFinished, state.deadline, state.endDeadline)
        }
        state.seek(to: 1)
        state.setRate(1)
        state.restart()
        #expect(state.playhead.frame == 0)
    }

    @Test mutating func `changing the rate keeps the position`() {
        _ = frame(at: 0)
        _ = frame(at: 150)
        state.setRate(10)
        #expect(state.playhead.frame == 1)

        #expect(frame(at: 155) == 2)
        state.setRate(1)
        #expect(frame(at: 254) == 2)
        #expect(frame(at: 255) == 3)
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
        state.restart()
        #expect(!state.isFinished)
        #expect(state.deadline == .ms(900))
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
        #expect(state.playhead == AnimationTimeline.Playhead(play: 1, frame: 3, next: .ms(800)))
        #expect(state.deadline == .ms(650))
        state.seek(to: 77)
        #expect(state.playhead.frame == 3)
        state.seek(to: -77)
        #expect(state.playhead.frame == 0)
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
}
