import AlcedoCore
import AlcedoProcessing
import FoundationEssentials
import Synchronization
import Testing

@Suite struct AnimationTests {
    /// Three frames of noise that count how often they were asked for.
    private final class Frames: ImageFrameSource {
        struct Missing: Error {}

        let asked = Atomic(0)
        var canvasSize: PixelSize { PixelSize(width: 10, height: 6) }
        var frameCount: Int { 3 }
        var playCount: Int? { 4 }
        var cost: Int { 1234 }
        func delay(at index: Int) -> Duration { .milliseconds(20 * (index + 1)) }
        func rawDelay(at index: Int) -> Duration { .milliseconds(2 * (index + 1)) }
        func frame(at index: Int) throws -> PixelBuffer {
            asked.add(1, ordering: .relaxed)
            guard index < 2 else { throw Missing() }
            return Self.picture(index)
        }
        static func picture(_ index: Int) -> PixelBuffer {
            .noise(10, 6, .rgba8, .straight, seed: UInt64(index + 1))
        }
    }

    private let frames = Frames()
    private let turn = Composition(Orient(), Resize(width: 4), BlackAndWhite())
    private var image: DecodedImage {
        DecodedImage(
            pixels: Frames.picture(0), colorProfile: Data([7]), orientation: .right, scale: 2, format: .gif,
            frames: frames)
    }

    @Test func `every frame is changed when it is asked for`() throws {
        let result = try EveryFrame(turn).process(image)

        #expect(frames.asked.load(ordering: .relaxed) == 0)
        let changed = try #require(result.frames)
        #expect(changed.canvasSize == result.size && result.size == PixelSize(width: 4, height: 7))
        #expect(changed.frameCount == 3 && changed.playCount == 4 && changed.cost == 1234)
        #expect(changed.delay(at: 1) == .milliseconds(40) && changed.rawDelay(at: 1) == .milliseconds(4))
        for index in 0..<2 {
            let alone = DecodedImage(pixels: Frames.picture(index), orientation: .right)
            #expect(try changed.frame(at: index) == turn.process(alone).pixels)
        }
        #expect(try changed.frame(at: 0) == result.pixels)
        #expect(frames.asked.load(ordering: .relaxed) == 3)
        #expect(result.colorProfile == Data([7]) && result.scale == 2 && result.format == .gif)
    }

    @Test func `what a frame or its processor throws comes when the frame is asked for`() throws {
        let result = try EveryFrame(turn).process(image)

        #expect(throws: Frames.Missing.self) { try result.frames?.frame(at: 2) }
        #expect(throws: ImageProcessingError.self) { try EveryFrame(Resize(width: 0)).process(image) }
    }

    @Test func `processors of frames follow one another`() throws {
        let grouped = try EveryFrame(Composition(Resize(width: 4), BlackAndWhite())).process(image)
        let chained = try Composition(EveryFrame(Resize(width: 4)), EveryFrame(BlackAndWhite())).process(image)

        #expect(try grouped.frames?.frame(at: 1) == chained.frames?.frame(at: 1))
    }

    @Test func `animations are left alone or lose all but the first frame, as asked`() throws {
        let alone = try StillsOnly(BlackAndWhite()).process(image)
        let first = try FirstFrame().process(image)
        let plain = try BlackAndWhite().process(image)

        #expect(alone.pixels == image.pixels && alone.frames != nil)
        #expect(first.pixels == image.pixels && first.frames == nil)
        #expect(plain.frames == nil)
    }

    @Test func `still images are changed in every way`() throws {
        var still = image
        still.frames = nil
        let expected = try turn.process(still).pixels

        #expect(try EveryFrame(turn).process(still).pixels == expected)
        #expect(try EveryFrame(turn).process(still).frames == nil)
        #expect(try StillsOnly(turn).process(still).pixels == expected)
        #expect(try FirstFrame().process(still).pixels == still.pixels)
    }

    @Test func `they are told apart by what they hold`() {
        #expect(EveryFrame(BlackAndWhite()) == EveryFrame(BlackAndWhite()))
        #expect(EveryFrame(BlackAndWhite()) != EveryFrame(Orient()))
        #expect(StillsOnly(BlackAndWhite()) != StillsOnly(Orient()))
    }
}
