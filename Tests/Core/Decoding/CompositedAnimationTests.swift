import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CompositedAnimationTests {
    private func animation(
        _ synthetic: SyntheticAnimation, orientation: ImageOrientation = .up,
        _ change: (inout DecodingOptions) -> Void = { _ in }
    ) -> CompositedAnimation<SyntheticAnimation> {
        var options = DecodingOptions()
        change(&options)
        return CompositedAnimation(synthetic.layout, decoder: synthetic, orientation: orientation, options: options)
    }

    private func frame(
        _ disposal: FrameDisposal, _ area: PixelRect, _ blend: FrameBlend = .source, isOpaque: Bool = false
    ) -> AnimationFrame {
        AnimationFrame(area: area, rawDelay: .zero, disposal: disposal, blend: blend, isOpaque: isOpaque)
    }

    /// Floating point and integers may round a half in different directions.
    private func isClose(_ a: [SIMD4<UInt8>], _ b: [SIMD4<UInt8>]) -> Bool {
        a.count == b.count
            && zip(a, b).allSatisfy { left, right in
                (0..<4).allSatisfy { abs(Int(left[$0]) - Int(right[$0])) <= 1 }
            }
    }

    @Test(arguments: 0..<12)
    func `disposal, blending and clipping match the definition`(seed: Int) throws {
        let synthetic = SyntheticAnimation(random: UInt64(seed), count: 14)
        let animation = animation(synthetic)
        let expected = synthetic.expected()

        for index in expected.indices {
            let shown = try animation.frame(at: index)
            #expect(shown.size == synthetic.layout.canvas)
            #expect(shown.alphaMode == .straight)
            // Rounding errors add up slightly where half-transparent frames overlap.
            let differences = zip(shown.pixelVectors, expected[index]).filter { !isClose([$0], [$1]) }
            #expect(differences.allSatisfy { abs(Int($0.w) - Int($1.w)) <= 3 && $0.w < 64 }, "frame \(index)")
        }
    }

    @Test func `frames that replace the canvas are exact`() throws {
        let canvas = PixelSize(width: 5, height: 4)
        let all = PixelRect(x: 0, y: 0, width: 5, height: 4)
        let inner = PixelRect(x: 1, y: 1, width: 2, height: 2)
        let outside = PixelRect(x: 9, y: 9, width: 2, height: 2)
        let corner = PixelRect(x: -1, y: -2, width: 4, height: 4)
        let synthetic = SyntheticAnimation(
            canvas: canvas,
            frames: [
                frame(.keep, all), frame(.clear, inner), frame(.restore, corner), frame(.restore, all),
                frame(.keep, outside), frame(.clear, all), frame(.keep, corner), frame(.keep, inner),
            ])
        let animation = animation(synthetic)

        for (index, pixels) in synthetic.expected().enumerated() {
            #expect(try animation.frame(at: index).pixelVectors == pixels, "frame \(index)")
        }
    }

    @Test(arguments: 0..<8) func `frames in any order equal those of forward playback`(seed: Int) throws {
        let synthetic = SyntheticAnimation(random: UInt64(seed + 100), count: 20)
        let forward = animation(synthetic)
        let frames = try (0..<20).map { try forward.frame(at: $0) }
        #expect(synthetic.calls.value == Array(0..<20), "forward play decodes every frame once")
        let jumping = animation(synthetic)
        var generator = SeededGenerator(seed: UInt64(seed))

        for _ in 0..<60 {
            let index = Int.random(in: 0..<20, using: &generator)
            #expect(try jumping.frame(at: index) == frames[index], "frame \(index)")
        }
    }

    @Test(arguments: 0..<20) func `the key frames are those that a walk back from each frame finds`(seed: Int) {
        let layout = SyntheticAnimation(random: UInt64(seed + 200), count: 40).layout

        for (index, keyFrame) in layout.keyFrames.enumerated() {
            let found = (0...index).last { candidate in
                guard candidate > 0 else { return true }
                let (frame, before) = (layout.frames[candidate], layout.frames[candidate - 1])
                let isOnTop = candidate == index || frame.disposal != .restore
                return frame.hidesEverything(of: layout.canvas) && isOnTop
                    || before.disposal == .clear && before.area.covers(layout.canvas)
            }
            #expect(keyFrame == found, "frame \(index)")
        }
    }

    @Test func `a seek decodes from the last frame that does not depend on others`() throws {
        let canvas = PixelSize(width: 4, height: 4)
        let all = PixelRect(x: 0, y: 0, width: 4, height: 4)
        let part = PixelRect(x: 0, y: 0, width: 2, height: 2)
        let frames = [
            frame(.keep, all), frame(.keep, part, .over), frame(.keep, all, .over, isOpaque: true),
            frame(.clear, all, .over), frame(.keep, part), frame(.clear, part), frame(.keep, part),
        ]
        let synthetic = SyntheticAnimation(canvas: canvas, frames: frames)
        #expect(synthetic.layout.keyFrames == [0, 0, 2, 2, 4, 4, 4])
        let animation = animation(synthetic)

        for (index, decoded) in [(6, [4, 5, 6]), (6, []), (3, [2, 3]), (4, [4]), (5, [5]), (1, [0, 1])] {
            synthetic.calls.update { $0 = [] }
            _ = try animation.frame(at: index)
            #expect(synthetic.calls.value == decoded, "jump to \(index)")
        }
    }

    @Test func `a damaged frame ends the animation, and is not decoded again`() throws {
        let synthetic = SyntheticAnimation(random: 42, count: 12)
        let whole = animation(synthetic)
        let frames = try (0..<12).map { try whole.frame(at: $0) }
        let animation = animation(synthetic)
        synthetic.broken.update { $0 = [6, 9] }
        let error = ImageDecodingError(.corrupt, "frame 6 is damaged")

        #expect(animation.frameCount == 12)
        #expect(animation.damage == nil)
        for index in 0..<6 { #expect(try animation.frame(at: index) == frames[index]) }
        #expect(throws: error) { try animation.frame(at: 6) }

        #expect(animation.frameCount == 6)
        let message = "the animation ends before frame 6: frame 6 is damaged"
        #expect(animation.damage == ImageDamage(.harmless, ImageDecodingError(.corrupt, message)))
        let calls = synthetic.calls.value.count
        for index in 6..<12 { #expect(throws: error) { try animation.frame(at: index) } }
        #expect(synthetic.calls.value.count == calls)
        for index in (0..<6).reversed() { #expect(try animation.frame(at: index) == frames[index]) }
    }

    @Test func `a jump finds the damage of the frames that it draws`() throws {
        let area = PixelRect(x: 0, y: 0, width: 2, height: 2)
        let frame = AnimationFrame(area: area, rawDelay: .zero, disposal: .keep, blend: .over)
        let synthetic = SyntheticAnimation(
            canvas: PixelSize(width: 2, height: 2), frames: Array(repeating: frame, count: 6))
        let animation = animation(synthetic)
        synthetic.broken.update { $0 = [2] }

        #expect(throws: ImageDecodingError.self) { try animation.frame(at: 5) }

        #expect(animation.frameCount == 2)
        _ = try animation.frame(at: 1)
    }

    @Test func `the first frame does not end the animation, and neither does a lack of memory`() throws {
        let synthetic = SyntheticAnimation(random: 42, count: 3)
        let animation = animation(synthetic)
        synthetic.broken.update { $0 = [0] }
        #expect(throws: ImageDecodingError.self) { try animation.frame(at: 0) }
        synthetic.broken.update { $0 = [] }
        let found = FrameDamage(frameCount: 3)
        #expect(throws: ImageDecodingError.self) {
            try found.frame(1) { () throws(ImageDecodingError) in throw ImageDecodingError(.outOfMemory, "none") }
        }

        #expect(animation.frameCount == 3)
        #expect(animation.damage == nil)
        #expect(found.frameCount == 3)
        #expect(found.worst == nil)
        for index in 0..<3 { _ = try animation.frame(at: index) }
    }

    @Test(arguments: DamageTolerance.allCases, DamageTolerance.allCases)
    func `a later frame is shown with damage up to wrong pixels, if that is tolerated`(
        kind: DamageTolerance, tolerance: DamageTolerance
    ) throws {
        let synthetic = SyntheticAnimation(random: 42, count: 4)
        // The damage of the first frame is that of the image.
        synthetic.damage.update { $0 = [0: .missingPixels, 2: kind] }
        let animation = animation(synthetic) { $0.tolerance = tolerance }
        let isShown = kind <= tolerance && kind < .missingPixels

        let frame = try? animation.frame(at: 2)

        #expect((frame != nil) == isShown)
        #expect(animation.frameCount == (isShown ? 4 : 2))
        #expect(animation.damage?.kind == (isShown ? kind : .harmless))
    }

    @Test(arguments: ImageOrientation.allCases)
    func `alpha, orientation and target follow the options`(orientation: ImageOrientation) throws {
        let synthetic = SyntheticAnimation(random: 5, count: 3, canvas: PixelSize(width: 12, height: 8))
        let plain = try animation(synthetic).frame(at: 2)
        let target = TargetSize(width: 4, height: 4)
        let reduction = BoxReduction(from: plain.size, orientation: orientation, towards: target)

        let shown = animation(synthetic, orientation: orientation) {
            $0.alphaMode = .premultiplied
            $0.target = target
        }
        let stored = animation(synthetic, orientation: orientation) { $0.appliesOrientation = false }

        let expected = try plain.reduced(by: reduction).upright(from: orientation).converted(to: .premultiplied)
        #expect(reduction.factor == 2)
        #expect(try shown.frame(at: 2) == expected)
        #expect(shown.canvasSize == expected.size)
        #expect(try stored.frame(at: 2) == plain)
    }

    @Test func `delays, loop count and cost are reported, and short delays are lengthened`() {
        let area = PixelRect(x: 0, y: 0, width: 2, height: 2)
        let delays: [Duration] = [.zero, .milliseconds(10), .milliseconds(11), .seconds(3)]
        let frames = delays.map {
            AnimationFrame(area: area, rawDelay: $0, disposal: .keep, blend: .source)
        }
        let synthetic = SyntheticAnimation(canvas: PixelSize(width: 2, height: 2), frames: frames, playCount: 4)
        let animation = animation(synthetic)

        #expect((0..<4).map(animation.rawDelay) == delays)
        #expect(
            (0..<4).map(animation.delay) == [
                .milliseconds(100), .milliseconds(100), .milliseconds(11), .seconds(3),
            ])
        #expect(animation.playCount == 4)
        #expect(animation.frameCount == 4)
        #expect(animation.cost == 77 + 2 * 2 * 64)
    }

    @Test func `concurrent threads all receive their frames`() async throws {
        let synthetic = SyntheticAnimation(random: 9, count: 10)
        let expected = try (0..<10).map { try animation(synthetic).frame(at: $0) }
        let shared = animation(synthetic)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { () async throws in
                    for step in 0..<20 {
                        let index = (number * 3 + step * 7) % 10
                        #expect(try shared.frame(at: index) == expected[index])
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
