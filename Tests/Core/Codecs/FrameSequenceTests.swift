import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite struct FrameSequenceTests {
    private let pixels = (0..<4).map { DecodedImage.gray(side: 2, level: UInt8(10 * $0)).pixels }

    private func image(_ frames: any ImageFrameSource) -> DecodedImage {
        DecodedImage(pixels: pixels[0], frames: frames)
    }

    private func made(_ count: Int, missing: Int? = nil) -> MadeFrames {
        MadeFrames(pixels[0].size, (0..<count).map { ($0 == missing ? nil : pixels[$0], .milliseconds(50)) })
    }

    /// Returns the indices of the frames, and whether exactly the last one was known to be the last.
    private func read(_ image: DecodedImage) throws -> (indices: [Int], endsRight: Bool) {
        var sequence = try FrameSequence(image, format: "X")
        var found: [(index: Int, isLast: Bool)] = []
        while let (index, pixels, isLast) = try sequence.next() {
            #expect(pixels == self.pixels[index])
            found.append((index, isLast))
        }
        #expect(sequence.isAnimated == (found.count > 1))
        return (found.map { $0.index }, found.dropLast().allSatisfy { !$0.isLast } && found.last?.isLast == true)
    }

    @Test func `a still image is one frame, and an animation is read to its last frame`() throws {
        let still = try read(DecodedImage(pixels: pixels[0]))
        #expect(still.indices == [0])
        #expect(still.endsRight)
        for count in 1...4 {
            let frames = try read(image(made(count)))
            #expect(frames.indices == Array(0..<count))
            #expect(frames.endsRight)
        }
    }

    @Test func `a frame that cannot be read is an error`() throws {
        for missing in 0..<3 {
            #expect(throws: ImageEncodingError.self) { try read(image(made(3, missing: missing))) }
        }
    }

    @Test func `a damaged frame ends the sequence, and after one frame the image is still`() throws {
        for broken in 1..<4 {
            let synthetic = SyntheticAnimation(random: 3, count: 4)
            synthetic.broken.update { $0 = [broken] }
            let frames = CompositedAnimation(synthetic.layout, decoder: synthetic, options: DecodingOptions())
            var sequence = try FrameSequence(
                DecodedImage(pixels: frames.frame(at: 0), frames: frames), format: "X")
            var lasts: [Bool] = []
            while let frame = try sequence.next() { lasts.append(frame.isLast) }

            #expect(lasts == Array(repeating: false, count: broken - 1) + [true])
            #expect(sequence.isAnimated == (broken > 1))
        }
    }
}
