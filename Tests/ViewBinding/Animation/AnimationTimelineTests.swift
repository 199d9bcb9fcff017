import Testing

@testable import AlcedoViewBinding

@Suite struct AnimationTimelineTests {
    private let timeline = AnimationTimeline(delays: [.ms(30), .ms(50), .ms(20)])

    @Test(arguments: [
        (0, 0, 0, 30), (29, 0, 0, 30), (30, 0, 1, 80), (79, 0, 1, 80), (80, 0, 2, 100), (99, 0, 2, 100),
        (100, 1, 0, 130), (3_180, 31, 2, 3_200), (-5, 0, 0, 30),
    ])
    func `each time maps to one frame of the animation`(position: Int, play: Int, frame: Int, next: Int) {
        let playhead = timeline.playhead(at: .ms(position), playCount: nil)

        #expect(playhead == AnimationTimeline.Playhead(play: play, step: frame, next: .ms(next)))
    }

    @Test(arguments: [
        (0, 0, 0, 30), (99, 0, 2, 100), (100, 1, 0, 130), (179, 1, 1, 180), (180, 1, 2, nil), (5_000, 1, 2, nil),
    ])
    func `after its loops an animation stays at its last frame`(position: Int, play: Int, frame: Int, next: Int?) {
        let playhead = timeline.playhead(at: .ms(position), playCount: 2)

        #expect(playhead == AnimationTimeline.Playhead(play: play, step: frame, next: next.map { .ms($0) }))
    }

    @Test func `the frame is exact after a year of playback`() {
        let year = Duration.seconds(365 * 86_400)
        let plays = Int(year / timeline.length)

        let playhead = timeline.playhead(at: timeline.length * plays + .ms(30), playCount: nil)

        #expect(playhead == AnimationTimeline.Playhead(play: plays, step: 1, next: timeline.length * plays + .ms(80)))
    }

    @Test func `a frame begins where the one before it ends`() {
        #expect(timeline.start(of: 0) == .zero)
        #expect(timeline.start(of: 2) == .ms(80))
        #expect(timeline.start(of: 1, play: 3) == .ms(330))
        #expect(timeline.start(of: 99) == .ms(80))
        #expect(timeline.start(of: -1, play: -1) == .zero)
    }

    @Test func `durations beyond the range are clamped`() {
        let timeline = AnimationTimeline(delays: [.seconds(Int64.max), .seconds(Int64.max), .ms(5)])

        #expect(timeline.length < .seconds(30 * 86_400))
        #expect(timeline.end(ofPlays: 2) == timeline.length * 2)
        #expect(timeline.end(ofPlays: -1) == timeline.length)
        #expect(timeline.end(ofPlays: .max) == AnimationTimeline.lastMoment)
        let playhead = timeline.playhead(at: .seconds(Int64.max), playCount: .max)
        #expect(playhead == timeline.playhead(at: AnimationTimeline.lastMoment, playCount: nil))
    }

    @Test func `zero and negative delays do not stop time`() {
        let timeline = AnimationTimeline(delays: [.zero, .ms(-5), .ms(10)])

        #expect(timeline.length == .ms(12))
        #expect(AnimationTimeline(delays: []).frameCount == 1)
    }
}
