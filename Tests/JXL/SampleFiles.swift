#if JXL
    import AlcedoCore
    import AlcedoJXL
    import Foundation
    import TestSupport

    /// Returns straight or opaque RGBA8 pixels that all differ.
    func samplePixels(_ size: PixelSize, alpha: Bool = false, offset: Int = 0) throws -> PixelBuffer {
        try madePixels(size, .rgba8, alphaMode: alpha ? .straight : .opaque) { column, y in
            let x = column + offset
            return [x * 7 + y, y * 5, 255 - x * 3, alpha ? 255 - (x + y) % 200 : 255]
        }
    }

    /// Returns opaque RGBA8 pixels that change slowly.
    func smoothPixels(_ size: PixelSize) throws -> PixelBuffer {
        try madePixels(size, .rgba8, alphaMode: .opaque) { x, y in
            [128 + 100 * (x - y) / (size.width + size.height), 200 * y / size.height, 255 * x / size.width, 255]
        }
    }

    /// Returns opaque RGBA16 pixels.
    func deepPixels(_ size: PixelSize) throws -> PixelBuffer {
        try madePixels(size, .rgba16, alphaMode: .opaque) { x, y in [x * 1_913, y * 3_001, 65_535 - x * 77, 65_535] }
    }

    /// Returns gray pixels.
    func grayPixels(_ size: PixelSize) throws -> PixelBuffer {
        try madePixels(size, .gray8, alphaMode: .opaque) { x, y in [11 * x + 3 * y] }
    }

    /// Files that are made by the encoder, each of another kind.
    enum SampleFile: String, CaseIterable, Sendable {
        case lossless, alpha, lossy, deep, gray, animation, rotated, metadata

        static let size = PixelSize(width: 21, height: 15)

        func data() throws -> Data {
            let size = Self.size
            let lossless = JXLEncoder(compression: .lossless, effort: 3)
            switch self {
            case .lossless: return try lossless.encode(DecodedImage(pixels: samplePixels(size)))
            case .alpha: return try lossless.encode(DecodedImage(pixels: samplePixels(size, alpha: true)))
            case .lossy: return try JXLEncoder(effort: 3).encode(DecodedImage(pixels: smoothPixels(size)))
            case .deep: return try lossless.encode(DecodedImage(pixels: deepPixels(size)))
            case .gray: return try lossless.encode(DecodedImage(pixels: grayPixels(size)))
            case .animation: return try animationFile(frameCount: 4)
            case .rotated:
                return try lossless.encode(DecodedImage(pixels: samplePixels(size), orientation: .leftMirrored))
            case .metadata:
                let encoder = lossless.embedding(exif: Data(ImageOrientation.right.exif))
                return try encoder.encode(DecodedImage(pixels: samplePixels(size)))
            }
        }
    }

    /// Returns the pixels of frame `index` of ``animationFile(frameCount:)``.
    func animationFrame(_ index: Int) throws -> PixelBuffer { try samplePixels(SampleFile.size, offset: index) }

    /// Returns a lossless animation of opaque frames with durations of 40, 50, 60 and more milliseconds.
    func animationFile(frameCount: Int, playCount: Int? = nil) throws -> Data {
        let frames = try (0..<frameCount).map { index in
            (pixels: Optional(try animationFrame(index)), delay: Duration.milliseconds(40 + 10 * index))
        }
        let source = MadeFrames(SampleFile.size, playCount: playCount, frames)
        let encoder = JXLEncoder(compression: .lossless, effort: 3)
        return try encoder.encode(DecodedImage(pixels: try animationFrame(0), frames: source))
    }

    /// Returns the bytes of a file in the directory of tests.
    func testFile(_ path: String) throws -> Data {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: path))
    }

    /// Writes numbers with the lowest bit first.
    struct BitWriter {
        private var bits: [Bool] = []

        mutating func append(_ value: Int, _ count: Int) {
            for bit in 0..<count { bits.append(value >> bit & 1 == 1) }
        }

        /// The bytes, after the last one was filled with zeros.
        var data: Data {
            let filled = bits + Array(repeating: false, count: (8 - bits.count % 8) % 8)
            return Data(
                stride(from: 0, to: filled.count, by: 8).map { start in
                    (0..<8).reduce(UInt8(0)) { filled[start + $1] ? $0 | 1 << UInt8($1) : $0 }
                })
        }
    }

    /// A file with boxes around a codestream.
    enum BoxedFile {
        /// Returns a file with boxes before and after the codestream.
        static func data(_ codestream: Data, before: [Data] = [], after: [Data] = []) -> Data {
            file(before + [box("jxlc", codestream)] + after)
        }

        /// Returns a file with boxes.
        static func file(_ boxes: [Data]) -> Data {
            let start = Data([0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A])
            let type = box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
            return start + type + boxes.reduce(Data(), +)
        }

        /// Returns the codestream of a file with or without boxes.
        static func codestream(of file: Data) -> Data {
            guard file.starts(with: [0, 0, 0, 12]) else { return file }
            var rest = [UInt8](file)
            var result = Data()
            while rest.count >= 8 {
                let size = rest[..<4].reduce(0) { $0 << 8 | Int($1) }
                let end = size < 8 ? rest.count : min(size, rest.count)
                switch String(decoding: rest[4..<8], as: UTF8.self) {
                case "jxlc": result.append(contentsOf: rest[8..<end])
                case "jxlp": result.append(contentsOf: rest[..<end].dropFirst(12))
                default: break
                }
                rest.removeFirst(end)
            }
            return result
        }

        /// Returns a box with a part of a codestream.
        static func part(_ codestream: Data, index: Int, isLast: Bool) -> Data {
            box("jxlp", number(isLast ? index | 1 << 31 : index) + codestream)
        }

        /// Returns a box whose size has 64 bits.
        static func largeBox(_ type: String, _ contents: Data) -> Data {
            number(1) + Data(type.utf8) + number(0) + number(contents.count + 16) + contents
        }

        /// Returns a box that extends to the end of the file.
        static func openBox(_ type: String, _ contents: Data) -> Data { number(0) + Data(type.utf8) + contents }

        static func box(_ type: String, _ contents: Data) -> Data {
            number(contents.count + 8) + Data(type.utf8) + contents
        }

        static func exif(_ tiff: [UInt8], offset: Int = 0) -> Data {
            box("Exif", number(offset) + Data(repeating: 0x20, count: offset) + Data(tiff))
        }

        /// Returns a box that is compressed with Brotli, as one block of stored bytes. Source: RFC 7932, section 9.2.
        static func compressed(_ type: String, _ contents: Data) -> Data {
            let header = (contents.count - 1) << 4 | 1 << 20
            let block = Data((0..<3).map { UInt8(truncatingIfNeeded: header >> (8 * $0)) })
            return box("brob", Data(type.utf8) + block + contents + Data([3]))
        }

        /// A box with 200,000 spaces of XMP, which Node.js compressed with Brotli.
        static let expandingXMP = box(
            "brob",
            Data("xml ".utf8)
                + Data([0x53, 0x3F, 0x0D, 0x83, 0x5F, 0x02, 0x24, 0x1E, 0x0B, 0x04, 0xF2, 0x09, 0x06, 0x00]))

        private static func number(_ value: Int) -> Data {
            Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
        }
    }
#endif
