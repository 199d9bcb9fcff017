import Alcedo
import AlcedoBMP
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Every way to a smaller image, compared with the whole image reduced by Lanczos.
@Suite(.timeLimit(.minutes(10)))
struct ReducedQualityTests {
    /// A kind of file. The samples of the JPEG files are decoded at a reduced size; all others yield whole rows.
    enum File: String, CaseIterable, Sendable {
        case jpeg, jpegWithoutSubsampling, progressiveJPEG, png, gif, bmp, webp, losslessWebP

        var isJPEG: Bool { self == .jpeg || self == .jpegWithoutSubsampling || self == .progressiveJPEG }

        func data(_ image: DecodedImage) throws -> Data {
            switch self {
            case .jpeg: try ImageEncoder.jpeg(quality: 90, subsampling: .both).encode(image)
            case .jpegWithoutSubsampling: try ImageEncoder.jpeg(quality: 90, subsampling: .none).encode(image)
            case .progressiveJPEG:
                try ImageEncoder.jpeg(quality: 90, subsampling: .both, isProgressive: true).encode(image)
            case .png: try ImageEncoder.png(compressionLevel: 1).encode(image)
            case .gif: try ImageEncoder.gif(dithers: false).encode(image)
            case .bmp: Self.bmp(image.pixels)
            case .webp: try ImageEncoder.webp(quality: 80, method: 0).encode(image)
            case .losslessWebP: try ImageEncoder.webp(lossless: true, method: 0).encode(image)
            }
        }

        /// Returns a file with the rows from the bottom to the top, in the order blue, green, red, unused.
        private static func bmp(_ pixels: PixelBuffer) -> Data {
            func bytes(_ value: Int, _ count: Int) -> [UInt8] {
                (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            }
            let size = 54 + pixels.width * pixels.height * 4
            let fields = [(size, 4), (0, 4), (54, 4), (40, 4), (pixels.width, 4), (pixels.height, 4), (1, 2), (32, 2)]
            var file = Data("BM".utf8)
            for (value, count) in fields { file += bytes(value, count) }
            file += bytes(0, 24)
            for y in (0..<pixels.height).reversed() {
                pixels.row(y).withUnsafeBytes { row in
                    for x in 0..<pixels.width { file += [row[x * 4 + 2], row[x * 4 + 1], row[x * 4], 0] }
                }
            }
            return file
        }
    }

    /// A way to a smaller image.
    enum Way: String, CaseIterable, Sendable {
        case converter, convertingOrientation, convertingCrop, resize, fitting, orientation, crop, previews

        var crops: Bool { self == .crop || self == .convertingCrop }

        var orientation: ImageOrientation {
            self == .convertingOrientation || self == .orientation ? .rightMirrored : .up
        }
    }

    private static let codecs = CodecRegistry.standard.adding(.bmp)
    /// Images, files and their ideal reductions. Each takes longer to make than most ways to a smaller image.
    private static let images: [DrawnImage: DecodedImage] = Dictionary(
        uniqueKeysWithValues: DrawnImage.allCases.compactMap { drawing in drawing.image().map { (drawing, $0) } })
    private static let files = Watched<[String: Data]>([:])
    private static let ideals = Watched<[String: PixelBuffer]>([:])
    private static let part = ImageProcessors.Crop(PixelRect(x: 101, y: 7, width: 3_607, height: 301))

    private static func file(_ drawing: DrawnImage, _ file: File, _ orientation: ImageOrientation) throws -> Data {
        let key = "\(drawing) \(file) \(orientation)"
        if let data = files.value[key] { return data }
        var image = try #require(images[drawing])
        image.orientation = orientation
        let data = try file.data(image)
        files.update { $0[key] = data }
        return data
    }

    /// Returns the whole image, cropped if the way crops, reduced by the filter.
    private static func ideal(_ drawing: DrawnImage, _ file: File, _ way: Way, _ side: Int) throws -> PixelBuffer {
        let key = "\(drawing) \(file) \(way.orientation) \(way.crops) \(side)"
        if let pixels = ideals.value[key] { return pixels }
        var image = try codecs.decode(try Self.file(drawing, file, way.orientation))
        if way.crops { image = try part.process(image) }
        let pixels = try ImageProcessors.Resize(to: PixelSize(width: side, height: side)).process(image).pixels
        ideals.update { $0[key] = pixels }
        return pixels
    }

    private static func reduced(_ data: Data, _ side: Int, _ way: Way) async throws -> PixelBuffer {
        let size = PixelSize(width: side, height: side)
        if way == .converter || way == .convertingOrientation {
            let result = try await ImageConverter(codecs: codecs).convert(
                data, to: .png(compressionLevel: 1), fitting: size)
            return try codecs.decode(result).pixels
        }
        if way == .convertingCrop {
            let converter = ImageConverter(codecs: codecs, processors: [part, .resize(fitting: size)])
            return try codecs.decode(try await converter.convert(data, to: .png(compressionLevel: 1))).pixels
        }
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.codecs = codecs
        configuration.memoryCache = nil
        let pipeline = ImagePipeline(configuration)
        var request = ImageRequest(source: .bytes(data, identity: "a"), processors: [])
        switch way {
        case .fitting: return try await pipeline.image(for: request, fitting: size).pixels
        case .crop: request.processors = [part, .resize(fitting: size)]
        case .previews:
            let origin = try LoopbackOrigin { _ in .ok(data).stalling(at: .afterBody(data.count / 2)) }
            defer { origin.stop() }
            request = ImageRequest(url: origin.url(for: "/a"), processors: [.resize(fitting: size)])
            request.deliversPreviews = true
            let task = pipeline.imageTask(with: request)
            // Decoding begins with the first half of the bytes.
            try await origin.waitForStalls()
            origin.release()
            return try await task.image.pixels
        default: request.processors = [.resize(fitting: size)]
        }
        return try await pipeline.image(for: request).pixels
    }

    private static func check(_ drawing: DrawnImage, _ file: File, _ way: Way, _ side: Int) async throws {
        let result = try await reduced(try Self.file(drawing, file, way.orientation), side, way)
        let ideal = try Self.ideal(drawing, file, way, side)

        let comment: Comment = "\(drawing) as \(file) by \(way) to \(side)"
        try #require(result.size == ideal.size, comment)
        if drawing == .stripes {
            let (deviation, expected) = (result.standardDeviation, ideal.standardDeviation)
            #expect(abs(deviation - expected) <= 2, "\(comment): \(deviation) instead of \(expected)")
        } else {
            let ratio = ImageDifference(result, ideal).ratio
            #expect(ratio >= minimumRatio(drawing, file, side, way), "\(comment): \(ratio) dB")
        }
    }

    /// Returns the minimum ratio in dB. Two roundings to 8 bits alone differ by 56 to 58.
    private static func minimumRatio(_ drawing: DrawnImage, _ file: File, _ side: Int, _ way: Way) -> Double {
        // Whole rows are filtered, as in the whole image.
        guard file.isJPEG else { return 54 }
        switch drawing {
        case .photo, .gradient, .stripes: return side < 240 ? 53 : 55
        // The rows of text are reduced from the full size, except for those in which it is found. Strokes of one pixel
        // without soft edges, at four times the final size, are the worst case. The samples at the edges of a part also
        // show strokes outside of it.
        case .text, .coloredText: return way == .convertingCrop ? 41 : 44
        }
    }

    @Test(arguments: Way.allCases, File.allCases)
    func `every way has the quality of the whole image`(way: Way, file: File) async throws {
        let drawings: [DrawnImage] = file.isJPEG ? DrawnImage.allCases : [.text, .stripes]
        for drawing in drawings {
            for side in [100, 320] { try await Self.check(drawing, file, way, side) }
        }
    }

    @Test(arguments: DrawnImage.allCases, File.allCases.filter(\.isJPEG))
    func `a JPEG has the quality of the whole image at every scale`(drawing: DrawnImage, file: File) async throws {
        for side in [80, 100, 160, 240, 400, 480, 640] { try await Self.check(drawing, file, .converter, side) }
    }

    /// Stripes of black and white whose period, in tenths of a pixel, is near that of the blocks or of their halves.
    @Test(arguments: [37, 39, 41, 43, 73, 75, 78, 82, 85], [false, true])
    func `stripes do not beat with the blocks of a JPEG`(tenths: Int, isVertical: Bool) async throws {
        let size = isVertical ? PixelSize(width: 192, height: 3_840) : PixelSize(width: 3_840, height: 192)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let level: UInt32 = (isVertical ? y : x) * 20 / tenths % 2 == 0 ? 0xFF : 0
                    let pixel = level * 0x01_0101 | 0xFF00_0000
                    memory.storeBytes(of: pixel.littleEndian, toByteOffset: y * bytesPerRow + x * 4, as: UInt32.self)
                }
            }
        }
        let data = try ImageEncoder.jpeg(quality: 90, subsampling: .both)
            .encode(DecodedImage(pixels: try #require(pixels)))
        // At an eighth, the final size of a sequential file is made of a quarter.
        for side in [160, 80] {
            let resize = ImageProcessors.Resize(to: PixelSize(width: side, height: side))
            let ideal = try resize.process(try Self.codecs.decode(data)).pixels
            let result = try await Self.reduced(data, side, .converter)

            let (deviation, expected) = (result.standardDeviation, ideal.standardDeviation)
            #expect(abs(deviation - expected) <= 2, "\(side): \(deviation) instead of \(expected)")
        }
    }

    @Test(arguments: [ImageFormat.gif, .webp])
    func `each frame of an animation has the quality of the whole frame`(format: ImageFormat) async throws {
        var animation = try #require(Self.images[.text])
        let turned = try ImageProcessors.Flip(.leftAndRight).process(animation).pixels
        animation.frames = MadeFrames(
            animation.size, [(animation.pixels, .milliseconds(100)), (turned, .milliseconds(100))])
        let encoder: ImageEncoder = format == .gif ? .gif(dithers: false) : .webp(lossless: true, method: 0)
        let data = try encoder.encode(animation)
        let resize = ImageProcessors.Resize(to: PixelSize(width: 100, height: 100))
        let whole = try #require(try Self.codecs.decode(data).frames)

        let converted = try Self.codecs.decode(
            try await ImageConverter().convert(data, to: .webp(lossless: true), fitting: resize.target))
        let loaded = try await ImagePipeline.standard(cacheDirectory: nil).image(
            for: ImageRequest(source: .bytes(data, identity: "a"), processors: [resize]))

        for image in [converted, loaded] {
            let frames = try #require(image.frames)
            try #require(frames.frameCount == 2)
            for index in 0..<2 {
                let ideal = try resize.process(DecodedImage(pixels: try whole.frame(at: index))).pixels
                #expect(ImageDifference(try frames.frame(at: index), ideal).ratio >= 54, "\(index)")
            }
        }
    }

    @Test(arguments: [PixelFormat.rgba16, .gray16])
    func `sixteen bits have the quality of the whole image`(format: PixelFormat) async throws {
        let size = PixelSize(width: 1_200, height: 80)
        var random = SeededGenerator(seed: 16)
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, _ in
            for index in memory.indices where index % 2 == 1 {
                memory[index - 1] = UInt8(truncatingIfNeeded: random.next())
                memory[index] = UInt8(index / 2 % 500 / 2)
                if format == .rgba16, index % 8 == 7 { (memory[index - 1], memory[index]) = (255, 255) }
            }
        }
        let image = DecodedImage(pixels: try #require(pixels))
        let data = try ImageEncoder.png(compressionLevel: 1).encode(image)
        for side in [37, 100] {
            let resize = ImageProcessors.Resize(to: PixelSize(width: side, height: side))
            let ideal = try resize.process(image).pixels
            let converted = try Self.codecs.open(
                try await ImageConverter().convert(data, to: .png(), fitting: resize.target), limits: DecodingLimits()
            ).decode(DecodingOptions(pixelFormat: format))
            var request = ImageRequest(source: .bytes(data, identity: "a"), processors: [resize])
            request.decoding.pixelFormat = format
            let loaded = try await ImagePipeline.standard(cacheDirectory: nil).image(for: request)

            for result in [converted.pixels, loaded.pixels] {
                try #require(result.format == format)
                try #require(result.size == ideal.size)
                #expect(ImageDifference(result, ideal).ratio >= 90, "\(side)")
            }
        }
    }
}
