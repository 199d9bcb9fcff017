import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport
import Testing

@Suite struct PNGAnimationTests {
    private let decoder = PNGDecoder()

    /// The formulas of `Fixtures/make-animations.py`.
    private static func pixel(_ x: Int, _ y: Int, frame: Int) -> [Int] {
        let moved = (2..<9).contains(x) && (3..<8).contains(y) ? frame : 0
        return [19 * x, 29 * y, (5 * x * y + 60 * moved) % 256, max(0, 255 - 15 * x - 40 * moved)]
    }

    private static func indexed(_ x: Int, _ y: Int, frame: Int) -> [Int] {
        let index = (x + 5 * y + (x > 3 ? frame : 0)) % 16
        return [17 * index, 255 - index, 3 * index, index < 12 ? 20 * index : 255]
    }

    /// Blends one pixel over another in exact numbers. Source: W3C PNG specification, third edition, section 13.16.
    private static func over(_ above: [Int], _ below: [Int]) -> [Int] {
        let (a, b) = (Double(above[3]) / 255, Double(below[3]) / 255)
        let alpha = a + b * (1 - a)
        guard alpha > 0 else { return [0, 0, 0, 0] }
        let color = (0..<3).map { (channel: Int) -> Int in
            let sum: Double = Double(above[channel]) * a + Double(below[channel]) * b * (1 - a)
            return Int((sum / alpha).rounded())
        }
        return color + [Int((alpha * 255).rounded())]
    }

    private func visible(_ pixels: PixelBuffer) -> [UInt8] { clearingTransparent(Data(pixels.tightBytes)) }

    private func expected(_ pixel: (_ x: Int, _ y: Int) -> [Int]) -> [UInt8] {
        clearingTransparent(Data(Samples.rows(pixel)))
    }

    private func animation(_ name: String) throws -> (image: DecodedImage, frames: any ImageFrameSource) {
        let image = try decoder.decode(fixture(name), options: DecodingOptions())
        return (image, try #require(image.frames))
    }

    @Test func `frames that replace the canvas match those that were encoded`() throws {
        let (image, frames) = try animation("animation.png")

        #expect(frames.frameCount == 3)
        #expect(frames.playCount == 3)
        #expect(visible(image.pixels) == expected { Self.pixel($0, $1, frame: 0) })
        for index in [2, 0, 1, 2] {
            #expect(visible(try frames.frame(at: index)) == expected { Self.pixel($0, $1, frame: index) })
        }
        #expect((0..<3).map(frames.rawDelay) == [.milliseconds(100), .milliseconds(5), .milliseconds(250)])
        #expect((0..<3).map(frames.delay) == [.milliseconds(100), .milliseconds(100), .milliseconds(250)])
    }

    @Test func `frames are blended over the canvas and disposed`() throws {
        let (_, frames) = try animation("animation-over.png")
        let below = { Self.pixel($0, $1, frame: 0) }

        #expect(frames.playCount == nil)
        for index in 1...2 {
            let composited = expected { x, y in
                (2..<9).contains(x) && (3..<8).contains(y)
                    ? Self.over(Self.pixel(x, y, frame: index), below(x, y)) : below(x, y)
            }
            #expect(visible(try frames.frame(at: index)) == composited, "frame \(index)")
        }
    }

    @Test func `a default image outside the animation is not a frame`() throws {
        let (image, frames) = try animation("animation-default.png")

        #expect(frames.frameCount == 2)
        #expect(frames.playCount == 1)
        #expect(visible(image.pixels) == expected { Self.indexed($0, $1, frame: 1) })
        #expect(visible(try frames.frame(at: 1)) == expected { Self.indexed($0, $1, frame: 2) })
    }

    @Test func `an animation can be decoded as a still image`() throws {
        let options = DecodingOptions(includesAnimation: false)

        let image = try decoder.decode(fixture("animation.png"), options: options)

        #expect(image.frames == nil)
        #expect(visible(image.pixels) == expected { Self.pixel($0, $1, frame: 0) })
    }

    @Test func `frames follow the options`() throws {
        let target = TargetSize(width: 4, height: 4)
        let options = DecodingOptions(alphaMode: .premultiplied, target: target, pixelFormat: .gray8)
        let oriented = PNGWriter.inserting(
            PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6)), into: try fixture("animation.png"))

        let image = try decoder.decode(oriented, options: options)

        #expect(image.size == PixelSize(width: 3, height: 5))
        #expect(image.pixels.format == .rgba8)
        #expect(image.pixels.alphaMode == .premultiplied)
        #expect(image.orientation == .up)
        #expect(try image.frames?.frame(at: 0) == image.pixels)
        #expect(image.frames?.canvasSize == image.size)
    }

    @Test func `inspection returns frames, loop count and delays`() throws {
        let info = try decoder.inspect(fixture("animation.png"), limits: DecodingLimits())

        #expect(info.frameCount == 3)
        #expect(info.loopCount == 3)
        #expect(info.delays == [.milliseconds(100), .milliseconds(5), .milliseconds(250)])
        #expect(info.size == Samples.size)
    }

    @Test func `more frames than allowed are refused`() throws {
        let file = try fixture("animation.png")

        #expect(errorCode(file, limits: DecodingLimits(maximumFrameCount: 3)) == nil)
        #expect(errorCode(file, limits: DecodingLimits(maximumFrameCount: 2)) == .exceedsLimit)
        #expect(throws: ImageDecodingError.self) {
            try decoder.inspect(file, limits: DecodingLimits(maximumFrameCount: 2))
        }
    }

    @Test func `frames are decoded only if all of them together are within the limit`() throws {
        let data = try fixture("animation.png")
        let total = try 3 * decoder.inspect(data, limits: DecodingLimits()).size.pixelCount

        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total)) == nil)
        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total - 1)) == .exceedsLimit)
        // The first frame alone is one image.
        let options = DecodingOptions(limits: DecodingLimits(maximumTotalPixelCount: 1), includesAnimation: false)
        #expect(throws: Never.self) { try decoder.decode(data, options: options) }
    }

    /// Whether each frame of the image equals that of the complete animation.
    private func hasRightFrames(_ image: DecodedImage) throws -> Bool {
        let count = image.frames?.frameCount ?? 1
        guard visible(image.pixels) == expected({ Self.pixel($0, $1, frame: 0) }) else { return false }
        return try (1..<max(2, count)).allSatisfy { index in
            guard count > 1, let frame = try image.frames?.frame(at: index) else { return true }
            return visible(frame) == expected { Self.pixel($0, $1, frame: index) }
        }
    }

    @Test func `every prefix with the first frame has its complete frames, and the others miss pixels`() throws {
        let data = try fixture("animation.png")
        var counts: Set<Int> = []

        for count in 1..<data.count {
            let part = data.prefix(count)
            guard let image = try? decoder.decode(part, options: DecodingOptions()) else {
                #expect(errorCode(part) == .truncated, "\(count) bytes")
                #expect(counts.isEmpty, "\(count) bytes")
                let partial = try? decoder.decode(part, options: DecodingOptions(allowsPartial: true))
                #expect(partial.map { $0.partialError?.code == .truncated } ?? true)
                continue
            }
            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.error.code == .truncated)
            #expect(try hasRightFrames(image), "\(count) bytes")
            let info = try decoder.inspect(part, limits: DecodingLimits())
            #expect(info.frameCount == image.frames?.frameCount ?? 1)
            counts.insert(info.frameCount)
        }
        #expect(counts == [1, 2, 3])
    }

    @Test func `a flipped bit in an animation leaves the frames before it`() throws {
        let data = try fixture("animation.png")
        var counts: Set<Int> = []

        for index in 8 + 25..<data.count - 12 {
            var damaged = data
            damaged[index] ^= 0x04
            guard let image = try? decoder.decode(damaged, options: DecodingOptions()) else { continue }
            let damage = try #require(image.damage, "byte \(index)")
            counts.insert(image.frames?.frameCount ?? 1)
            #expect(try damage.kind == .wrongPixels || hasRightFrames(image), "byte \(index)")
        }
        #expect(counts == [1, 2])
    }

    @Test func `the animation ends before a frame whose data cannot be inflated`() throws {
        let data = try fixture("animation.png")
        let name = try #require(data.firstRange(of: Data("fdAT".utf8)))
        let length = data[name.lowerBound - 4..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        // The sequence number, and a stream that ends early, with the right checksum.
        let short = PNGWriter.chunk("fdAT", Array(data[name.upperBound...].prefix(length / 2)))
        let damaged = data[..<(name.lowerBound - 4)] + short + data[(name.upperBound + length + 4)...]

        let image = try decoder.decode(damaged, options: DecodingOptions())

        let frames = try #require(image.frames)
        #expect(throws: ImageDecodingError.self) { try frames.frame(at: 1) }
        #expect(frames.frameCount == 1)
        #expect(frames.damage?.kind == .harmless)
        #expect(image.isAnimated == false)
        #expect(visible(try frames.frame(at: 0)) == visible(image.pixels))
    }

    @Test func `a broken pixel of a later frame ends the animation, and of the first one is reported`() throws {
        let data = try fixture("animation.png")
        for (name, frames, kind) in [("IDAT", 1, DamageTolerance.harmless), ("fdAT", 1, .harmless)] {
            var damaged = data
            let start = try #require(data.firstRange(of: Data(name.utf8))).lowerBound - 4
            let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            damaged[start + 8 + length] ^= 1

            let image = try decoder.decode(damaged, options: DecodingOptions())

            #expect(image.frames?.frameCount ?? 1 == frames)
            #expect(image.damage?.kind == kind)
            #expect(try hasRightFrames(image))
        }
    }
}
