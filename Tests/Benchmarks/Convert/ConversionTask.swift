import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoProgramSupport
import Foundation

/// A conversion that is measured. libvips has the tasks ``compared`` under the same names.
enum ConversionTask: String, CaseIterable {
    /// An image that fits into a square.
    case inside
    /// An image that covers a square.
    case cover
    /// Three sizes.
    case variants
    /// The largest of the three sizes.
    case largest
    /// An image that fits into as many pixels as the square has.
    case equal

    /// The tasks that libvips does, too.
    static let compared = [inside, cover, variants]

    private static let square = PixelSize(width: 320, height: 320)

    private static let converter: ImageConverter = {
        // Otherwise libwebp and libavif would use additional threads.
        var codecs = CodecRegistry.inProcess.adding(.webp(usesThreads: false))
        #if AVIF
            codecs = codecs.adding(.avif(usesThreads: false))
        #endif
        return ImageConverter(codecs: codecs, queue: ImageConversionQueue(maxConcurrentConversions: 1))
    }()

    private var outputs: [ImageConverter.Variant] {
        let largest = ImageConverter.Variant(.resize(width: 2048, height: 2048), .jpeg(quality: 82))
        switch self {
        case .inside: return [.init(.resize(fitting: Self.square), .jpeg(quality: 82))]
        case .cover: return [.init(.resize(covering: Self.square), .jpeg(quality: 82))]
        case .variants:
            let smaller = [1024, 320].map { side in
                ImageConverter.Variant(.resize(width: side, height: side), .webp(quality: 80))
            }
            return [largest] + smaller
        case .largest: return [largest]
        // The image is twice as wide as high.
        case .equal: return [.init(.resize(width: 452, height: 226), .jpeg(quality: 82))]
        }
    }

    /// Converts a file.
    func run(_ data: Data) async throws -> [Data] {
        try await Self.converter.convert(data, to: outputs).variants.map(\.data)
    }

    /// Returns the images of the conversion as PNG.
    func lossless(_ data: Data) async throws -> [Data] {
        let variants = outputs.map { ImageConverter.Variant(.png(), processors: $0.processors) }
        return try await Self.converter.convert(data, to: variants).variants.map(\.data)
    }
}

/// A format of the source, and the encoder that makes the file.
struct ConvertedFile {
    let name: String
    let encoder: ImageEncoder

    static let formats: [ConvertedFile] = {
        var formats = [
            ConvertedFile(name: "jpeg", encoder: .jpeg(quality: 90)), ConvertedFile(name: "png", encoder: .png()),
            ConvertedFile(name: "webp", encoder: .webp(quality: 80, method: 2)),
        ]
        #if AVIF
            formats.append(ConvertedFile(name: "avif", encoder: .avif(quality: 60, speed: 9)))
        #endif
        return formats
    }()
}

/// An image of eight photos, in two rows of four squares. It has the details of photos at any size, and is the same in
/// every run.
struct Mosaic {
    private static let (columns, rows) = (4, 2)

    private let paths: [String]

    /// Creates the mosaic of the first files in a directory, which are repeated if there are fewer.
    init(of directory: URL) throws { paths = try ThumbnailFiles(directory).paths }

    func image(megapixels: Int) throws -> DecodedImage {
        let side = Int((Double(megapixels) * 1e6 / Double(Self.columns * Self.rows)).squareRoot())
        let size = PixelSize(width: Self.columns * side, height: Self.rows * side)
        guard var pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .opaque) else {
            throw BenchError(description: "cannot allocate an image of \(size) pixels")
        }
        let bytesPerRow = pixels.bytesPerRow
        let tile: ImageProcessors.BuiltIn = .composition([
            .firstFrame, .flatten(), .resize(covering: PixelSize(width: side, height: side), enlarges: true),
        ])
        for index in 0..<Self.columns * Self.rows {
            let path = paths[index % paths.count]
            let photo = try tile.process(try CodecRegistry.inProcess.decode(Data(contentsOf: URL(filePath: path))))
            let start = index / Self.columns * side * bytesPerRow + index % Self.columns * side * 4
            pixels.withUnsafeMutableBytes { memory in
                for y in 0..<side {
                    photo.pixels.row(y).withUnsafeBytes { row in
                        let first = start + y * bytesPerRow
                        UnsafeMutableRawBufferPointer(rebasing: memory[first..<first + row.count])
                            .copyMemory(from: row)
                    }
                }
            }
        }
        return DecodedImage(pixels: pixels)
    }
}
