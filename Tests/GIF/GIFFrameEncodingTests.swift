import AlcedoCore
import AlcedoGIF
import Foundation
import TestSupport
import Testing

/// The images that are stored for the frames of an animation, whose pixels must not change.
@Suite struct GIFFrameEncodingTests {
    private static let size = PixelSize(width: 40, height: 30)
    private static let clear: [UInt8] = [0, 0, 0, 0]
    private static let red: [UInt8] = [200, 0, 0, 255]
    private static let gray: [UInt8] = [90, 90, 90, 255]

    private func pixels(_ size: PixelSize = size, _ color: (Int, Int) -> [UInt8]) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, stride in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        for (channel, value) in color(x, y).enumerated() {
                            memory[y * stride + 4 * x + channel] = value
                        }
                    }
                }
            })
    }

    private func animation(_ frames: [PixelBuffer]) -> DecodedImage {
        DecodedImage(
            pixels: frames[0], frames: MadeFrames(frames[0].size, frames.map { ($0, .milliseconds(100)) }))
    }

    /// Encodes an animation, and expects equal frames in the file.
    private func encoded(_ frames: [PixelBuffer], _ encoder: GIFEncoder = GIFEncoder()) throws -> Data {
        let file = try encoder.encode(animation(frames))
        let again = try #require(GIFDecoder().decode(file, options: DecodingOptions()).frames)
        try #require(again.frameCount == frames.count)
        for (index, pixels) in frames.enumerated() {
            #expect(try again.frame(at: index).tightBytes == pixels.tightBytes, "frame \(index)")
        }
        return file
    }

    private func isInside(_ x: Int, _ y: Int, _ left: Int, _ top: Int, side: Int = 6) -> Bool {
        (left..<left + side).contains(x) && (top..<top + side).contains(y)
    }

    @Test func `only the changed rectangle is drawn, with the palette of the first frame`() throws {
        let frames = try (0..<4).map { index in
            try pixels { x, y in isInside(x, y, 3 + 5 * index, 8) ? Self.red : [UInt8(x / 4), UInt8(y / 4), 50, 255] }
        }

        let blocks = try GIFBlocks(encoded(frames))

        #expect(blocks.images.map(\.area) == [[0, 0, 40, 30], [3, 8, 11, 6], [8, 8, 11, 6], [13, 8, 11, 6]])
        #expect(blocks.images.map(\.disposal) == [1, 1, 1, 1])
        #expect(blocks.images.map(\.delay) == [10, 10, 10, 10])
        #expect(blocks.images.map(\.colorCount) == [0, 0, 0, 0])
        #expect(blocks.colorCount == 128)
    }

    @Test func `unchanged pixels are transparent where that compresses better`() throws {
        var random = SeededGenerator(seed: 2)
        let noise = (0..<1200).map { _ in UInt8.random(in: 0..<100, using: &random) }
        // The changes are in two corners, so that the rectangle has all pixels of the noise.
        let frames = try (0..<2).map { index in
            try pixels { x, y in
                let changes = isInside(x, y, 0, 0, side: 2) || isInside(x, y, 38, 28, side: 2)
                return changes ? [UInt8(150 + index), 0, 0, 255] : [noise[40 * y + x], 0, 0, 255]
            }
        }
        let file = try encoded(frames)
        let blocks = try GIFBlocks(file)
        #expect(blocks.images.map(\.area) == [[0, 0, 40, 30], [0, 0, 40, 30]])
        #expect(blocks.images.map(\.hasTransparency) == [false, true])
        #expect(file.count < (try GIFEncoder().encode(DecodedImage(pixels: frames[0])).count) + 150)

        // Flat areas with transparent stripes would compress worse.
        let stripes = try (0..<2).map { index in
            try pixels { x, y in
                index == 1 || (x + y * 7) % 3 == 0 ? Self.red : [UInt8(x / 4), UInt8(y / 4), 0, 255]
            }
        }
        #expect(try GIFBlocks(encoded(stripes)).images[1].hasTransparency == false)
    }

    @Test func `a pixel that becomes transparent is cleared by the frame before`() throws {
        let frames = try (0..<3).map { index in
            try pixels { x, y in isInside(x, y, 4 + 8 * index, 10) ? Self.red : Self.clear }
        }

        let blocks = try GIFBlocks(encoded(frames))

        // The second frame is drawn on a canvas from which the first was removed.
        #expect(blocks.images.map(\.area) == [[0, 0, 40, 30], [12, 10, 6, 6], [20, 10, 6, 6]])
        #expect(blocks.images.map(\.disposal) == [2, 2, 1])
    }

    @Test func `a frame that only adds to a visible background is undone by the previous canvas`() throws {
        // The left half is visible, and the square also covers a part of the transparent half.
        let frames = try [nil, 17, 2].map { left in
            try pixels { x, y in
                if let left, isInside(x, y, left, 10) { return Self.red }
                return x < 20 ? [UInt8(x / 4), UInt8(y / 4), 50, 255] : Self.clear
            }
        }

        let blocks = try GIFBlocks(encoded(frames))

        #expect(blocks.images.map(\.area) == [[0, 0, 40, 30], [17, 10, 6, 6], [2, 10, 6, 6]])
        #expect(blocks.images.map(\.disposal) == [1, 3, 1])
    }

    @Test func `an equal frame is one pixel`() throws {
        let same = try pixels { x, y in [UInt8(x / 4), UInt8(y / 4), 0, 255] }
        #expect(try GIFBlocks(encoded([same, same, same])).images.map(\.area)[1...] == [[0, 0, 1, 1], [0, 0, 1, 1]])
    }

    @Test func `a frame that uses all colors of a full palette stays exact`() throws {
        let size = PixelSize(width: 32, height: 16)
        // All pixels but one change, so a transparent color would be one too many.
        let frames = try (0..<3).map { index in
            try pixels(size) { x, y in
                let color = x + y == 0 ? 0 : (32 * y + x + 77 * index) % 256
                return [UInt8(color), 1, 2, 255]
            }
        }

        let blocks = try GIFBlocks(encoded(frames))

        #expect(blocks.colorCount == 256)
        #expect(blocks.images.map(\.colorCount) == [0, 0, 0])
        #expect(blocks.images.map(\.hasTransparency) == [false, false, false])
    }

    @Test func `an index that a frame does not use is transparent in it when the palette is full`() throws {
        let frames = try (0..<2).map { index in
            try pixels(PixelSize(width: 16, height: 16)) { x, y in
                index == 1 && (x == y) ? [3, 0, 0, 255] : [UInt8(16 * y + x), 0, 0, 255]
            }
        }

        let blocks = try GIFBlocks(encoded(frames))

        #expect(blocks.images.map(\.colorCount) == [0, 0])
        #expect(blocks.images[1].hasTransparency)
        // Color 3, and index 0 for transparent pixels.
        #expect(blocks.images.map(\.minimumCodeSize) == [8, 2])
    }

    @Test func `colors beyond a full palette are in a palette of the frame`() throws {
        let frames = try (0..<2).map { index in
            try pixels(PixelSize(width: 16, height: 16)) { x, y in
                [UInt8(16 * y + x), UInt8(index == 1 && y < 8 ? 100 : 0), 0, 255]
            }
        }
        #expect(try GIFBlocks(encoded(frames)).images.map(\.colorCount) == [0, 128])
    }

    @Test(arguments: [true, false])
    func `of a frame with too many colors, only the changes are approximated`(dithers: Bool) throws {
        let frames = try (0..<2).map { index in
            try pixels(PixelSize(width: 48, height: 48)) { x, y in
                [UInt8(5 * x), UInt8(5 * y), index == 1 && x > 20 ? 200 : 90, 255]
            }
        }
        let file = try GIFEncoder(dithers: dithers).encode(animation(frames))
        let again = try #require(GIFDecoder().decode(file, options: DecodingOptions()).frames)

        let (first, second) = (try again.frame(at: 0), try again.frame(at: 1))
        #expect(try GIFBlocks(file).images.map(\.area) == [[0, 0, 48, 48], [21, 0, 27, 48]])
        for y in 0..<48 {
            for x in 0..<48 {
                guard x > 20 else {
                    #expect(first.rgba(x, y) == second.rgba(x, y))
                    continue
                }
                let blue = Int(second.rgba(x, y)[2])
                #expect(abs(blue - 200) < 10)
            }
        }
    }

    @Test func `a small palette has no transparent color for unchanged pixels`() throws {
        let frames = try (0..<2).map { index in
            try pixels(PixelSize(width: 64, height: 64)) { x, y in
                let level = UInt8(x * 4)
                return (x + y) % 4 == 0 ? [0, 0, 0, 255] : [level, index == 0 ? level : 255 - level, level, 255]
            }
        }
        let file = try GIFEncoder(maximumColorCount: 2).encode(animation(frames))
        let again = try #require(GIFDecoder().decode(file, options: DecodingOptions()).frames)

        let second = try again.frame(at: 1)
        #expect(Set((0..<64 * 64).map { second.rgba($0 % 64, $0 / 64) }).count == 2)
        #expect(try GIFBlocks(file).images.map(\.hasTransparency) == [false, false])
    }

    @Test(arguments: 0..<60)
    func `random frames of few colors are exact`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let side = 1...Int.random(in: 1...70, using: &random)
        let size = PixelSize(width: .random(in: side, using: &random), height: .random(in: side, using: &random))
        let colorCount = [1, 2, 3, 4, 5, 16, 17, 200][Int.random(in: 0..<8, using: &random)]
        // The first color is transparent in some animations.
        let colors = (0..<colorCount).map { [UInt8($0), UInt8(255 - $0), 7, 255] }
        let background = seed % 3 == 0 ? Self.clear : colors[0]
        var grid = [[UInt8]](repeating: background, count: size.pixelCount)
        let frames = try (0..<Int.random(in: 2...7, using: &random)).map { _ in
            // Rectangles of one color, or of noise.
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let left = Int.random(in: 0..<size.width, using: &random)
                let top = Int.random(in: 0..<size.height, using: &random)
                let right = Int.random(in: left..<size.width, using: &random)
                let bottom = Int.random(in: top..<size.height, using: &random)
                let flat = Bool.random(using: &random) ? background : colors[colorCount / 2]
                let isNoise = Int.random(in: 0..<3, using: &random) == 0
                for y in top...bottom {
                    for x in left...right {
                        let noise = colors[Int.random(in: 0..<colorCount, using: &random)]
                        grid[y * size.width + x] = isNoise ? noise : flat
                    }
                }
            }
            return try pixels(size) { x, y in grid[y * size.width + x] }
        }
        _ = try encoded(frames)
        _ = try encoded(frames, GIFEncoder(maximumColorCount: min(256, max(2, colorCount + 1))))
    }

    /// More codes than the table holds, in every code size, and strings of thousands of pixels.
    @Test(arguments: [2, 3, 4, 8, 9, 31, 64, 128, 256])
    func `large images are exact`(colorCount: Int) throws {
        let size = PixelSize(width: 300, height: 200)
        var random = SeededGenerator(seed: UInt64(colorCount))
        let noise = try pixels(size) { _, _ in [UInt8(Int.random(in: 0..<colorCount, using: &random)), 0, 0, 255] }
        let flat = try pixels(size) { x, y in [UInt8(y < 190 ? 0 : x % colorCount), 0, 0, 255] }
        for (image, maximum) in [(noise, 90_000), (flat, 3_300)] {
            let file = try GIFEncoder().encode(DecodedImage(pixels: image))
            #expect(try GIFDecoder().decode(file, options: DecodingOptions()).pixels.tightBytes == image.tightBytes)
            #expect(file.count < maximum)
        }
    }

    /// The numbers are those of `gifsicle -O2`, version 1.93, for the same files.
    @Test(arguments: [
        ("animated", 366), ("disposal-asis", 373), ("disposal-background", 384), ("disposal-mixed", 404),
        ("disposal-previous", 436), ("interlaced", 206), ("plain", 206), ("transparent", 96),
    ])
    func `a file is at most 1.1 times that of gifsicle`(name: String, byteCount: Int) throws {
        let image = try GIFDecoder().decode(fixture("\(name).gif"), options: DecodingOptions())
        let file = try GIFEncoder(keepsShortDelays: true).encode(image)
        #expect(file.count * 10 <= byteCount * 11, "\(file.count) bytes, gifsicle \(byteCount)")
    }

    @Test func `the limit of bytes is that of the file`() throws {
        let frames = try (0..<3).map { index in try pixels { x, y in [UInt8(x * y % 200), UInt8(index), 0, 255] } }
        for image in [animation(frames), DecodedImage(pixels: frames[0])] {
            let file = try GIFEncoder().encode(image)
            #expect(try GIFEncoder().encode(image, maximumByteCount: file.count) == file)
            let error = #expect(throws: ImageEncodingError.self) {
                try GIFEncoder().encode(image, maximumByteCount: file.count - 1)
            }
            #expect(error?.code == .exceedsLimit)
        }
    }

    @Test func `profile and XMP are written in blocks that other readers can skip`() throws {
        let image = DecodedImage(
            pixels: try pixels { x, y in [UInt8(x), UInt8(y), 0, 255] },
            colorProfile: Data((0..<700).map { UInt8($0 % 255) }))
        let xmp = Data("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8) + Data(repeating: 0x20, count: 3)
        let file = try GIFEncoder().embedding(ImageMetadata(xmp: xmp)).encode(image)

        #expect(try GIFBlocks(file).images.count == 1)
        let metadata = try GIFDecoder().inspect(file, limits: DecodingLimits()).metadata
        #expect(metadata.xmp == xmp)
        #expect(metadata.colorProfile == image.colorProfile)
    }
}
