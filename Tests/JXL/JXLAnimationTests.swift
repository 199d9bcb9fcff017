#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport
    import Testing

    @Suite struct JXLAnimationTests {
        private let decoder = JXLDecoder()

        private func frames(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> any ImageFrameSource
        {
            try #require(try decoder.decode(data, options: options).frames)
        }

        @Test func `frames are decoded in any order`() throws {
            let frames = try frames(animationFile(frameCount: 5))

            for index in [0, 1, 4, 2, 3, 3, 0] {
                let pixels = try frames.frame(at: index)
                #expect(pixels == (try animationFrame(index)), "frame \(index)")
                #expect(pixels.alphaMode == .opaque)
            }
        }

        @Test func `durations and the canvas are known`() throws {
            let data = try animationFile(frameCount: 4)

            let frames = try frames(data)
            let info = try decoder.inspect(data, limits: DecodingLimits())

            let delays = [40, 50, 60, 70].map { Duration.milliseconds($0) }
            #expect((0..<4).map(frames.rawDelay) == delays)
            #expect((0..<4).map(frames.delay) == delays)
            #expect(frames.canvasSize == SampleFile.size)
            #expect(info.frameCount == 4)
            #expect(info.delays == delays)
            #expect(info.size == SampleFile.size)
            #expect(frames.cost > data.count)
        }

        @Test func `durations are rounded down to milliseconds, and are at least one`() throws {
            let pixels = try animationFrame(0)
            let stored: [(Duration, Duration, Duration)] = [
                (.milliseconds(-5), .milliseconds(1), .milliseconds(100)),
                (.zero, .milliseconds(1), .milliseconds(100)),
                (.microseconds(10_900), .milliseconds(10), .milliseconds(100)),
                (.milliseconds(11), .milliseconds(11), .milliseconds(11)),
                (.seconds(4_000_000), .seconds(4_000_000), .seconds(4_000_000)),
            ]
            let source = MadeFrames(pixels.size, stored.map { (pixels: Optional(pixels), delay: $0.0) })
            let encoder = JXLEncoder(compression: .lossless, effort: 3)

            let frames = try frames(encoder.encode(DecodedImage(pixels: pixels, frames: source)))

            #expect(frames.frameCount == stored.count)
            for (index, delay) in stored.enumerated() {
                #expect(frames.rawDelay(at: index) == delay.1)
                #expect(frames.delay(at: index) == delay.2)
            }
        }

        @Test func `only the first frame is decoded on request`() throws {
            let image = try decoder.decode(
                animationFile(frameCount: 3), options: DecodingOptions(includesAnimation: false))

            #expect(image.frames == nil)
            #expect(try image.pixels == animationFrame(0))
        }

        @Test func `a target size reduces every frame`() throws {
            let options = DecodingOptions(target: TargetSize(width: 7, height: 5))
            let frames = try frames(animationFile(frameCount: 3), options)

            let reduction = BoxReduction(from: SampleFile.size, towards: options.target)
            #expect(frames.canvasSize == PixelSize(width: 7, height: 5))
            #expect(try frames.frame(at: 2) == animationFrame(2).reduced(by: reduction))
        }

        @Test(arguments: [nil, 1, 3, 70_000] as [Int?])
        func `the number of plays is written`(plays: Int?) throws {
            let data = try animationFile(frameCount: 2, playCount: plays)

            #expect(try frames(data).playCount == plays)
            #expect(try decoder.inspect(data, limits: DecodingLimits()).loopCount == plays ?? 0)
            #expect(try decoder.inspect(SampleFile.lossless.data(), limits: DecodingLimits()).loopCount == nil)
        }

        @Test func `an animation keeps alpha`() throws {
            let pixels = try (0..<3).map { try samplePixels(PixelSize(width: 20, height: 9), alpha: true, offset: $0) }
            let source = MadeFrames(pixels[0].size, pixels.map { (pixels: Optional($0), delay: .milliseconds(30)) })
            let encoder = JXLEncoder(compression: .lossless, effort: 3)

            let frames = try frames(encoder.encode(DecodedImage(pixels: pixels[0], frames: source)))

            for index in 0..<3 { #expect(try frames.frame(at: index) == pixels[index]) }
        }
    }
#endif
