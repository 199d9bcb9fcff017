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

/// Small files whose decoding takes much memory, and encoders of an image that cannot be compressed.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: !keepsFreedMemory && !recordsAccesses))
struct MemoryBudgetTests {
    private static let size = PixelSize(width: 3000, height: 3000)

    private static let encoders: [(name: String, encoder: ImageEncoder)] = {
        var encoders: [(name: String, encoder: ImageEncoder)] = [
            ("png", .png()), ("png of effort 0", .png(compressionLevel: 0)), ("jpeg", .jpeg(quality: 100)),
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

    /// The names of files, of which the option `rows` is a variant.
    private static let files: [String] = {
        var names = [
            "png", "png rows", "jpeg", "jpeg rows", "progressive jpeg", "rotated jpeg", "gif", "gif frames", "webp",
            "lossless webp", "webp frames", "bmp", "bmp rows",
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
        return names
    }()

    @Test(arguments: files) func `a decoder holds no more memory than its budget`(name: String) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "bomb")
        try Self.bomb(name.replacing(" rows", with: "")).write(to: file)
        let path = file.path(percentEncoded: false)
        await #expect(processExitsWith: .success) { [name, path = path as String] in
            let data = try Data(contentsOf: URL(filePath: path))
            var options = DecodingOptions(target: name.hasSuffix("rows") ? TargetSize(width: 9, height: 9) : nil)
            options.isFiltered = name.hasSuffix("rows")
            if name.hasPrefix("deep") { options.pixelFormat = .rgba16 }
            let decoder = try #require(CodecRegistry.programs.entry(for: data)).decoder
            try PeakMemory.checkDecode(data, by: decoder, options, name)
        }
    }

    private static func bomb(_ name: String) throws -> Data {
        switch name {
        case "bmp": return bitmap
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

    private static func svg(_ content: String) -> Data {
        Data("<svg xmlns='http://www.w3.org/2000/svg' width='3000' height='3000'>\(content)</svg>".utf8)
    }

    /// A black bitmap of 24 bits, whose rows are converted one by one.
    private static var bitmap: Data {
        let size = PixelSize(width: 1500, height: 1500)
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let head = Array("BM".utf8) + number(0, 8) + number(54, 4) + number(40, 4) + number(size.width, 4)
        let rest = number(size.height, 4) + number(1, 2) + number(24, 2) + number(0, 24)
        return Data(head + rest) + Data(count: size.height * size.width * 3)
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

    private static func flat() throws -> DecodedImage {
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

    private static func noise() throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) { memory, _ in
                var state: UInt64 = 0x9E37_79B9_7F4A_7C15
                for word in memory.bindMemory(to: UInt64.self).indices {
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    memory.storeBytes(of: state | 0xFF00_0000_FF00_0000, toByteOffset: 8 * word, as: UInt64.self)
                }
            })
    }
}
