import AlcedoCore
import AlcedoProcessing
import FoundationEssentials
import Synchronization
import Testing

@Suite struct AnimationTests {
    /// Three frames of noise that count their reads.
    private final class Frames: ImageFrameSource {
        struct Missing: Error {}

        let requested = Atomic(0)
        var canvasSize: PixelSize { PixelSize(width: 10, height: 6) }
        var frameCount: Int { 3 }
        var playCount: Int? { 4 }
        var cost: Int { 1234 }
        func delay(at index: Int) -> Duration { .milliseconds(20 * (index + 1)) }
        func rawDelay(at index: Int) -> Duration { .milliseconds(2 * (index + 1)) }
        func frame(at index: Int) throws -> PixelBuffer {
            requested.add(1, ordering: .relaxed)
            guard index < 2 else { throw Missing() }
            return Self.makePixels(index)
        }
        static func makePixels(_ index: Int) -> PixelBuffer {
            .noise(10, 6, .rgba8, .straight, seed: UInt64(index + 1))
        }
    }

    private let frames = Frames()
    private let chain = ImageProcessors.Composition([.orient, .resize(width: 4), .grayscale])
    /// Processes one image at a time, like an app's own processor without support for animations.
    private let doubled = ImageProcessors.Closure(identifier: "doubled") { image in
        DecodedImage(pixels: image.pixels, scale: image.scale * 2)
    }
    private var image: DecodedImage {
        DecodedImage(
            pixels: Frames.makePixels(0), colorProfile: Data([7]), orientation: .right, scale: 2, format: .gif,
            frames: frames)
    }

    @Test(arguments: [false, true])
    func `every frame is processed when it is read`(isExplicit: Bool) throws {
        let result = try isExplicit ? ImageProcessors.EveryFrame(chain).process(image) : chain.process(image)

        #expect(frames.requested.load(ordering: .relaxed) == 0)
        let changed = try #require(result.frames)
        #expect(changed.canvasSize == result.size)
        #expect(result.size == PixelSize(width: 4, height: 7))
        #expect(changed.frameCount == 3)
        #expect(changed.playCount == 4)
        #expect(changed.cost == 1234)
        #expect(changed.delay(at: 1) == .milliseconds(40))
        #expect(changed.rawDelay(at: 1) == .milliseconds(4))
        for index in 0..<2 {
            let alone = DecodedImage(pixels: Frames.makePixels(index), orientation: .right)
            #expect(try changed.frame(at: index) == chain.process(alone).pixels)
        }
        #expect(try changed.frame(at: 0) == result.pixels)
        #expect(frames.requested.load(ordering: .relaxed) == 3)
        #expect(result.colorProfile == Data([7]))
        #expect(result.scale == 2)
        #expect(result.format == .gif)
    }

    @Test(arguments: AllProcessors.list.indices)
    func `every processor of the package keeps an animation and processes each frame`(index: Int) throws {
        let processor = AllProcessors.list[index]
        switch processor.unwrapped {
        case is ImageProcessors.FirstFrame, is ImageProcessors.StillImagesOnly: return
        // It returns the result of its function.
        case is ImageProcessors.Closure: return
        // All frames are stretched like the first one.
        case is ImageProcessors.Normalize: return
        default: break
        }

        let result = try processor.process(image)

        let processed = try #require(result.frames)
        #expect(frames.requested.load(ordering: .relaxed) == 0)
        #expect(processed.canvasSize == result.size)
        #expect(processed.frameCount == 3)
        let alone = DecodedImage(pixels: Frames.makePixels(1), orientation: .right)
        #expect(try processed.frame(at: 1) == processor.process(alone).pixels)
    }

    @Test func `all frames are normalized by the function of the first one`() throws {
        let result = try ImageProcessors.Normalize(lower: 20, upper: 80).process(image)

        let processed = try #require(result.frames)
        #expect(frames.requested.load(ordering: .relaxed) == 0)
        #expect(try processed.frame(at: 0) == result.pixels)
        var function: [UInt16: UInt16] = [:]
        for (x, y) in image.pixels.positions {
            for channel in 0..<3 {
                function[image.pixels.pixel(x, y)[channel]] = result.pixels.pixel(x, y)[channel]
            }
        }
        let (original, second) = (Frames.makePixels(1), try processed.frame(at: 1))
        var common = 0
        for (x, y) in second.positions {
            for channel in 0..<3 {
                guard let expected = function[original.pixel(x, y)[channel]] else { continue }
                common += 1
                #expect(second.pixel(x, y)[channel] == expected)
            }
        }
        #expect(common > 20)
    }

    @Test func `only the first frame is processed after it is extracted`() throws {
        let result = try ImageProcessors.Composition([.firstFrame, .resize(width: 4)]).process(image)

        #expect(result.frames == nil)
        #expect(result.size.width == 4)
    }

    @Test func `an image with processed frames can be referred to weakly`() throws {
        let result = try ImageProcessors.Grayscale().process(image)
        let find = try #require(result.weakReference)

        #expect(find()?.frames?.frameCount == 3)
        withExtendedLifetime(result) {}
    }

    @Test func `an app's own processor keeps an animation only within EveryFrame`() throws {
        let alone = try doubled.process(image)
        let every = try ImageProcessors.EveryFrame(doubled).process(image)

        #expect(alone.frames == nil)
        #expect(every.frames?.frameCount == 3)
    }

    @Test func `an error of a frame or its processor is thrown when the frame is read`() throws {
        let result = try ImageProcessors.EveryFrame(chain).process(image)

        #expect(throws: Frames.Missing.self) { try result.frames?.frame(at: 2) }
        #expect(throws: ImageProcessingError.self) { try ImageProcessors.EveryFrame(.resize(width: 0)).process(image) }
    }

    @Test func `frame processors run one after another`() throws {
        let grouped = try ImageProcessors.EveryFrame(.composition([.resize(width: 4), .grayscale])).process(image)
        let chained = try ImageProcessors.Composition([.everyFrame(.resize(width: 4)), .everyFrame(.grayscale)])
            .process(
                image)

        #expect(try grouped.frames?.frame(at: 1) == chained.frames?.frame(at: 1))
    }

    @Test func `animations are kept or reduced to the first frame on request`() throws {
        let alone = try ImageProcessors.StillImagesOnly(.grayscale).process(image)
        let first = try ImageProcessors.FirstFrame().process(image)
        let plain = try ImageProcessors.Grayscale().process(image)

        #expect(alone.pixels == image.pixels)
        #expect(alone.frames != nil)
        #expect(first.pixels == image.pixels)
        #expect(first.frames == nil)
        #expect(plain.frames?.frameCount == 3)
    }

    @Test func `still images are processed in every mode`() throws {
        var still = image
        still.frames = nil
        let expected = try chain.process(still).pixels

        #expect(try ImageProcessors.EveryFrame(chain).process(still).pixels == expected)
        #expect(try ImageProcessors.EveryFrame(chain).process(still).frames == nil)
        #expect(try ImageProcessors.StillImagesOnly(chain).process(still).pixels == expected)
        #expect(try ImageProcessors.FirstFrame().process(still).pixels == still.pixels)
    }

    @Test func `processors are equal when their contents are`() {
        let processors: [any ImageProcessing] = [
            .everyFrame(.grayscale), .everyFrame(.orient), .stillImagesOnly(.grayscale), .stillImagesOnly(.orient),
            .grayscale, .orient,
        ]

        #expect(Set(processors.map(\.identifier)).count == processors.count)
    }
}
