import Alcedo
import AlcedoCore
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

#if AVIF
    import AlcedoAVIF
#endif
#if JXL
    import AlcedoJXL
#endif
#if TIFF
    import AlcedoTIFF
#endif

/// Small files whose decoding takes much memory, and encoders of an image that cannot be compressed.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory && !recordsAccesses))
struct MemoryBudgetTests {
    private static let size = PixelSize(width: 3000, height: 3000)

    private static let encoders: [(name: String, encoder: ImageEncoder)] = {
        var encoders: [(name: String, encoder: ImageEncoder)] = [
            ("png", .png()), ("png of effort 0", .png(compressionLevel: 0)), ("jpeg", .jpeg(quality: 100)),
            ("png of 256 colors", .png(maximumColorCount: 256)), ("interlaced png", .png(isInterlaced: true)),
            ("progressive jpeg", .jpeg(quality: 100, isProgressive: true)), ("webp", .webp(quality: 100)),
            ("lossless webp", .webp(lossless: true)), ("gif", .gif()),
        ]
        #if AVIF
            encoders += [("avif", .avif(quality: 90, speed: 9)), ("lossless avif", .avif(lossless: true, speed: 9))]
        #endif
        #if JXL
            encoders += [
                ("jxl", .jxl(quality: 95, effort: 7)), ("lossless jxl", .jxl(lossless: true, effort: 2)),
            ]
        #endif
        #if TIFF
            encoders += [("tiff", .tiff()), ("lzw tiff", .tiff(compression: .lzw))]
        #endif
        return encoders
    }()

    @Test(arguments: encoders.map { $0.name }) func `an encoder holds no more memory than its budget`(
        name: String
    ) async throws {
        await #expect(processExitsWith: .success) { [name] in
            let encoder = try #require(Self.encoders.first { $0.name == name }).encoder
            // The codec library must be loaded, and small allocations made, before memory is measured.
            _ = try encoder.encode(.gray(side: 16))
            try PeakMemory.checkEncode(DecodedImage(pixels: Self.noise()), by: encoder, name)
        }
    }

    /// Without `lossless avif`: libaom fails for an animation of such noise without loss.
    private static let animatedEncoders = encoders.filter { name, encoder in
        !["jpeg", "tiff"].contains(encoder.format.rawValue) && name != "lossless avif"
    }.map { $0.name }

    @Test(arguments: animatedEncoders) func `an encoder of an animation holds no more memory than its budget`(
        name: String
    ) async throws {
        await #expect(processExitsWith: .success) { [name] in
            let encoder = try #require(Self.encoders.first { $0.name == name }).encoder
            _ = try encoder.encode(Self.noise(PixelSize(width: 16, height: 16), frameCount: 2))
            // The encoded frames are a large part of the memory.
            let image = try Self.noise(PixelSize(width: 320, height: 320), frameCount: 24)
            #expect(encoder.encodingByteCount(of: image) > encoder.encodingByteCount(of: image.size, format: .rgba8))
            try PeakMemory.checkEncode(image, by: encoder, name)
        }
    }

    #if JXL
        @Test(arguments: [
            "jxl of noise", "jxl of noise with effort 9", "jxl of gray", "jxl of metadata", "jxl of a row",
        ])
        func `a recompression holds no more memory than its budget, in both directions`(name: String) async throws {
            await #expect(processExitsWith: .success) { [name] in
                let effort = name.hasSuffix("9") ? 9 : 3
                let size = name.hasSuffix("row") ? PixelSize(width: 65_500, height: 1) : Self.size
                let isNoise = name.hasPrefix("jxl of noise")
                var jpeg = try ImageEncoder.jpeg(quality: 100).encode(
                    isNoise ? DecodedImage(pixels: Self.noise()) : Self.flat(size))
                if name.hasSuffix("metadata") {
                    let segment = Data([0xFF, 0xE5, 0xFF, 0xFF]) + Data((0..<65_533).map { UInt8($0 * $0 % 251) })
                    var segments = Data()
                    for _ in 0..<300 { segments += segment }
                    jpeg = jpeg.prefix(2) + segments + jpeg.dropFirst(2)
                }
                let small = try ImageEncoder.jpeg().encode(.gray(side: 16))
                _ = try JPEGRecompression.reconstruct(JPEGRecompression.compress(small))
                let budget = JPEGRecompression.compressionByteCount(
                    of: size, effort: effort, fileByteCount: jpeg.count)
                var file = Data()
                PeakMemory.check(
                    try ResidentMemory.growth { file = try JPEGRecompression.compress(jpeg, effort: effort) }.bytes,
                    budget, name)
                let limits = DecodingLimits()
                let decoding = try CodecRegistry([.jxl]).open(file).decodingByteCount(DecodingOptions())
                let result = JPEGRecompression.maximumJPEGByteCount(
                    of: size, fileByteCount: file.count, limits)
                var restored = Data()
                let growth = try ResidentMemory.growth { restored = try JPEGRecompression.reconstruct(file) }.bytes
                #expect(restored == jpeg)
                PeakMemory.check(growth, decoding + 2 * result, name)
            }
        }
    #endif

    /// The names of files, of which the options `rows` and `averaged` are variants.
    private static let files: [String] = {
        var names = [
            "png", "png rows", "jpeg", "jpeg rows", "progressive jpeg", "rotated jpeg", "gif", "gif frames",
            "gif of a pixel", "webp", "lossless webp", "webp codes", "webp frames", "bmp", "bmp rows", "apng", "ico",
            "ico rows", "ico bitmap", "wide bmp rows", "wide png rows", "wide bmp averaged", "wide png averaged",
        ]
        #if AVIF
            names += ["avif", "avif frames", "deep avif"]
        #endif
        #if JXL
            names += ["jxl", "jxl frames", "jxl metadata"]
        #endif
        #if SVG
            names += ["svg", "svg embedded", "svg filters"]
        #endif
        #if TIFF
            names += ["tiff", "tiff rows", "lzw tiff averaged"]
        #endif
        return names
    }()

    @Test(arguments: files) func `a decoder holds no more memory than its budget`(name: String) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "bomb")
        try Self.bomb(name.replacing(" rows", with: "").replacing(" averaged", with: "")).write(to: file)
        let path = file.path(percentEncoded: false)
        await #expect(processExitsWith: .success) { [name, path = path as String] in
            let data = try Data(contentsOf: URL(filePath: path))
            let isReduced = name.hasSuffix("rows") || name.hasSuffix("averaged")
            var options = DecodingOptions(target: isReduced ? TargetSize(width: 9, height: 9) : nil)
            options.isFiltered = name.hasSuffix("rows")
            if name.hasPrefix("deep") { options.pixelFormat = .rgba16 }
            let decoder = try #require(CodecRegistry.programs.entry(for: data)).decoder
            try PeakMemory.checkDecode(data, by: decoder, options, name)
        }
    }

    /// Two rows of five million pixels, of which the filter of a resize holds several times the memory.
    private static let wide = PixelSize(width: 5_000_000, height: 2)

    @Test(arguments: ["bmp", "png"], ["pipeline", "converter"])
    func `a resize while a wide image is decoded holds no more memory than is reserved`(
        format: String, path: String
    ) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "wide").path(percentEncoded: false)
        try Self.bomb("wide \(format)").write(to: URL(filePath: file))
        await #expect(processExitsWith: .success) { [path, file = file as String] in
            let data = try Data(contentsOf: URL(filePath: file))
            let resize: ImageProcessors.BuiltIn = .resize(fitting: PixelSize(width: 320, height: 320))
            var options = DecodingOptions(target: resize.decodingTarget)
            options.isFiltered = true
            let rows = ColorConvertedRows(
                to: .sRGB, by: LittleCMSColorConverter(), next: resize.rows(into: PixelRowCollector()))
            let reader = try CodecRegistry.programs.open(data)
            let budget = try reader.decodingByteCount(options, into: rows)
            let decoding = try reader.decodingByteCount(options)
            #expect(budget > decoding + 16 * Self.wide.width)
            let small = try ImageEncoder.png().encode(.gray(side: 64))
            guard path == "pipeline" else {
                func convert(_ data: Data) throws -> Data {
                    try ImageConverter(codecs: .programs).convert(
                        data, to: .png(), fitting: PixelSize(width: 320, height: 320))
                }
                _ = try convert(small)
                PeakMemory.check(try ResidentMemory.growth { try convert(data) }.bytes, budget, path)
                return
            }
            func load(_ data: Data, budget: Int) async throws -> DecodedImage {
                var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
                configuration.codecs = .programs
                configuration.maximumDecodingByteCount = budget
                let request = ImageRequest(source: .bytes(data, identity: "wide"), processors: [resize])
                return try await ImagePipeline(configuration).load(request).image
            }
            _ = try await load(small, budget: budget)

            let refusal = await ResidentMemory.suspendingGrowth {
                let error = await #expect(throws: PipelineError.self) { try await load(data, budget: budget - 1) }
                #expect(error?.code == .decoding(.exceedsLimit))
            }
            let (image, growth) = try await ResidentMemory.suspendingGrowth { try await load(data, budget: budget) }

            #expect(refusal.bytes < 12 << 20)
            #expect(image.size == PixelSize(width: 320, height: 1))
            PeakMemory.check(growth, budget, path)
        }
    }

    private static func bomb(_ name: String) throws -> Data {
        switch name {
        case "apng": return try animatedPNG()
        case "gif of a pixel": return gifOfOnePixel()
        case "webp codes": return PrefixCodeBomb.file(side: 512)
        case "bmp": return bitmap(PixelSize(width: 1500, height: 1500))
        case "wide bmp": return bitmap(wide)
        case "wide png": return try ImageEncoder.png().encode(flat(wide))
        case "ico": return icon(try ImageEncoder.png().encode(flat()))
        case "ico bitmap": return icon(maskedBitmap(PixelSize(width: 1500, height: 1500)))
        case "svg": return svg("<path d='M0 0h9v9z'/>")
        case "svg embedded":
            let image = try ImageEncoder.png().encode(flat()).base64EncodedString()
            return svg("<image width='3000' height='3000' href='data:image/png;base64,\(image)'/>")
        case "svg filters":
            let filter = "<filter id='f'><feGaussianBlur stdDeviation='3'/><feTurbulence/><feOffset dx='1'/></filter>"
            return svg("\(filter)<rect width='3000' height='3000' filter='url(#f)'/>")
        case "rotated jpeg":
            var image = try flat()
            image.orientation = .right
            return try ImageEncoder.jpeg().encode(image)
        #if JXL
            case "jxl metadata":
                return container(try ImageEncoder.jxl(quality: 90).encode(.gray(side: 16)))
        #endif
        #if AVIF
            case "deep avif":
                let pixels = PixelBuffer(size: size, format: .rgba16, alphaMode: .opaque)
                return try ImageEncoder.avif(speed: 10).encode(DecodedImage(pixels: #require(pixels)))
        #endif
        default: break
        }
        let isAnimated = name.hasSuffix(" frames")
        let encoder = try #require(encoders.first { $0.name == name.replacing(" frames", with: "") }).encoder
        return try encoder.encode(isAnimated ? animation() : flat())
    }

    /// A frame of one pixel on a canvas, which is restored when the frame ends.
    private static func gifOfOnePixel() -> Data {
        let canvas = number(size.width, 2) + number(size.height, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let control: [UInt8] = [0x21, 0xF9, 4, 3 << 2, 10, 0, 0, 0]
        let frame = [0x2C] + number(0, 4) + number(1, 2) + number(1, 2) + [0, 2, 2, 0x4C, 1, 0, 0x3B]
        return Data(Array("GIF89a".utf8) + canvas + control + frame)
    }

    private static func svg(_ content: String) -> Data {
        Data("<svg xmlns='http://www.w3.org/2000/svg' width='3000' height='3000'>\(content)</svg>".utf8)
    }

    /// A black bitmap of 24 bits, whose rows are converted one by one. The width is a multiple of four.
    private static func bitmap(_ size: PixelSize) -> Data {
        let head = Array("BM".utf8) + number(0, 8) + number(54, 4)
        return Data(head + bitmapHeader(size)) + Data(count: size.height * size.width * 3)
    }

    /// A bitmap of an icon, which a mask of one bit a pixel follows.
    private static func maskedBitmap(_ size: PixelSize) -> Data {
        let mask = (size.width + 31) / 32 * 4 * size.height
        return Data(bitmapHeader(PixelSize(width: size.width, height: 2 * size.height)))
            + Data(count: size.height * size.width * 3 + mask)
    }

    private static func bitmapHeader(_ size: PixelSize) -> [UInt8] {
        let fields = [(40, 4), (size.width, 4), (size.height, 4), (1, 2), (24, 2), (0, 24)]
        return fields.flatMap { number($0.0, $0.1) }
    }

    /// An icon with one image.
    private static func icon(_ image: Data) -> Data {
        let fields = [(0, 2), (1, 2), (1, 2), (0, 4), (1, 2), (32, 2), (image.count, 4), (22, 4)]
        return Data(fields.flatMap { number($0.0, $0.1) }) + image
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 255) }
    }

    /// The chunks of a PNG, whose image becomes the two frames of an animation. Each frame is removed after it was
    /// shown, for which the decoder keeps the canvas.
    private static func animatedPNG() throws -> Data {
        let still = try Array(ImageEncoder.png().encode(flat()))
        func bigEndian(_ value: Int, _ count: Int = 4) -> [UInt8] { number(value, count).reversed() }
        func chunk(_ type: String, _ contents: some Collection<UInt8>) -> [UInt8] {
            let bytes: [UInt8] = Array(type.utf8) + contents
            return [bigEndian(contents.count), bytes, bigEndian(Int(checksum(bytes)))].flatMap { $0 }
        }
        func control(_ sequence: Int) -> [UInt8] {
            let fields = [(sequence, 4), (size.width, 4), (size.height, 4), (0, 8), (1, 2), (10, 2), (2, 1), (0, 1)]
            return chunk("fcTL", fields.flatMap { bigEndian($0.0, $0.1) })
        }
        var file = Array(still[..<8])
        var pixels: [UInt8] = []
        var start = 8
        while start + 12 <= still.count {
            let count = still[start..<start + 4].reduce(0) { (sum: Int, byte: UInt8) in sum << 8 | Int(byte) }
            let end = start + 12 + count
            if still[start + 4..<start + 8].elementsEqual("IDAT".utf8) {
                pixels += still[start + 8..<end - 4]
            } else if !still[start + 4..<start + 8].elementsEqual("IEND".utf8) {
                file += still[start..<end]
            }
            start = end
        }
        let second = bigEndian(2) + pixels
        file += chunk("acTL", bigEndian(2) + bigEndian(0))
        file += control(0)
        file += chunk("IDAT", pixels)
        file += control(1)
        file += chunk("fdAT", second)
        file += chunk("IEND", [])
        return Data(file)
    }

    /// The CRC-32 of a chunk. Source: PNG specification, annex D.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }

    #if JXL
        /// A file of boxes: 200,000 spaces of XMP that are compressed with Brotli, and a codestream.
        private static func container(_ codestream: Data) -> Data {
            func box(_ type: String, _ contents: Data) -> Data {
                let size = contents.count + 8
                return Data((0..<4).map { UInt8(size >> (24 - 8 * $0) & 255) }) + Data(type.utf8) + contents
            }
            let spaces: [UInt8] = [0x53, 0x3F, 0x0D, 0x83, 0x5F, 0x02, 0x24, 0x1E, 0x0B, 0x04, 0xF2, 0x09, 0x06, 0x00]
            return box("JXL ", Data([0x0D, 0x0A, 0x87, 0x0A])) + box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
                + box("brob", Data("xml ".utf8) + Data(spaces)) + box("jxlc", codestream)
        }
    #endif

    private static func flat(_ size: PixelSize = size) throws -> DecodedImage {
        DecodedImage(pixels: try #require(PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque)))
    }

    /// Two frames that differ in every pixel.
    private static func animation() throws -> DecodedImage {
        let frames = try [UInt8(0), 255].map { level in
            try #require(
                PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                    memory.initializeMemory(as: UInt8.self, repeating: level)
                })
        }
        var image = DecodedImage(pixels: frames[0])
        image.frames = MadeFrames(size, frames.map { ($0, .milliseconds(100)) })
        return image
    }

    /// Frames that differ in every pixel and cannot be compressed.
    private static func noise(_ size: PixelSize, frameCount: Int) throws -> DecodedImage {
        let frames = try (0..<frameCount).map { try noise(size, seed: UInt64($0)) }
        var image = DecodedImage(pixels: frames[0])
        image.frames = MadeFrames(size, frames.map { ($0, .milliseconds(100)) })
        return image
    }

    private static func noise(_ size: PixelSize = size, seed: UInt64 = 0) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                var state: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ seed
                for word in memory.bindMemory(to: UInt64.self).indices {
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    memory.storeBytes(of: state | 0xFF00_0000_FF00_0000, toByteOffset: 8 * word, as: UInt64.self)
                }
            })
    }
}
