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

    @Test func `a seek decodes from the last frame that does not depend on others`() throws {
        let canvas = PixelSize(width: 4, height: 4)
        let all = PixelRect(x: 0, y: 0, width: 4, height: 4)
        let part = PixelRect(x: 0, y: 0, width: 2, height: 2)
        let frames = [
            frame(.keep, all), frame(.keep, part, .over), frame(.keep, all, .over, isOpaque: true),
            frame(.clear, all, .over), frame(.keep, part), frame(.clear, part), frame(.keep, part),
        ]
        let synthetic = SyntheticAnimation(canvas: canvas, frames: frames)
        #expect((0..<7).map(synthetic.layout.keyFrame) == [0, 0, 2, 2, 4, 4, 4])
        let animation = animation(synthetic)

        for (index, decoded) in [(6, [4, 5, 6]), (6, []), (3, [2, 3]), (4, [4]), (5, [5]), (1, [0, 1])] {
            synthetic.calls.update { $0 = [] }
            _ = try animation.frame(at: index)
            #expect(synthetic.calls.value == decoded, "jump to \(index)")
        }
    }

    @Test func `a damaged frame is an error, and the other frames remain`() throws {
        let synthetic = SyntheticAnimation(random: 42, count: 12)
        let whole = animation(synthetic)
        let frames = try (0..<12).map { try whole.frame(at: $0) }
        let animation = animation(synthetic)
        let broken = 6
        synthetic.broken.update { $0 = [broken] }
        let damage = ImageDecodingError(.corrupt, "frame 6 is damaged")

        for index in 0..<12 {
            if synthetic.layout.keyFrame(for: index)...index ~= broken {
                #expect(throws: damage) { try animation.frame(at: index) }
            } else {
                #expect(try animation.frame(at: index) == frames[index])
            }
            // The previous frame is still available.
            #expect(try animation.frame(at: broken - 1) == frames[broken - 1])
        }
        synthetic.broken.update { $0 = [] }
        for index in 0..<12 { #expect(try animation.frame(at: index) == frames[index]) }
    }

    @Test func `an animation that ends at damage shows the frame before it from there on`() throws {
        let synthetic = SyntheticAnimation(random: 42, count: 12)
        let whole = animation(synthetic)
        let frames = try (0..<12).map { try whole.frame(at: $0) }
        let animation = CompositedAnimation(
            synthetic.layout, decoder: synthetic, options: DecodingOptions(), endsAtDamage: true)
        synthetic.broken.update { $0 = [6, 9] }

        for index in Array(0..<12) + (0..<12).reversed() {
            #expect(try animation.frame(at: index) == frames[min(index, 5)], "\(index)")
        }
        synthetic.broken.update { $0 = [0] }
        let unseen = CompositedAnimation(
            synthetic.layout, decoder: synthetic, options: DecodingOptions(), endsAtDamage: true)
        #expect(throws: ImageDecodingError(.corrupt, "frame 0 is damaged")) { try unseen.frame(at: 0) }
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
