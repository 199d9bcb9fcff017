// The code of the article, and what it says of it: `ReadmeTests` compares the two.
import AlcedoCodecs
import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import Testing

extension ImageFormat {
    static let grayMap = ImageFormat(rawValue: "graymap")
}

struct GrayMapDecoder: ImageDecoding {
    private static let headerLength = 8

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        let header = [UInt8](data.prefix(Self.headerLength))
        guard header.count == Self.headerLength else { throw ImageDecodingError(.truncated, "the header is truncated") }
        let size = PixelSize(
            width: Int(header[4]) << 8 | Int(header[5]), height: Int(header[6]) << 8 | Int(header[7]))
        guard size.width > 0, size.height > 0 else { throw ImageDecodingError(.corrupt, "the image has no pixels") }
        guard size.width * size.height <= limits.maximumPixelCount else {
            throw ImageDecodingError(.exceedsLimit, "\(size.width) x \(size.height) pixels exceed the limit")
        }
        let info = ImageInfo(format: .grayMap, size: size, colorModel: .gray)
        return WholeImageReader(info) { options throws(ImageDecodingError) in try image(data, size, options) }
    }

    private func image(
        _ data: Data, _ size: PixelSize, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        let samples = [UInt8](data.dropFirst(Self.headerLength))
        guard samples.count >= size.width * size.height else {
            throw ImageDecodingError(.truncated, "the samples are truncated")
        }
        let format: PixelFormat = options.pixelFormat == .gray8 ? .gray8 : .rgba8
        try options.limits.check(size, format: format)
        let width = format.bytesPerPixel
        let pixels = PixelBuffer(size: size, format: format, alphaMode: .opaque) { memory, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for channel in 0..<width {
                        let sample = channel == 3 ? 255 : samples[y * size.width + x]
                        memory[y * bytesPerRow + x * width + channel] = sample
                    }
                }
            }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels: out of memory") }
        return DecodedImage(pixels: pixels, format: .grayMap)
    }
}

extension CodecRegistry.Entry {
    static var grayMap: Self {
        Self(format: .grayMap, decoder: GrayMapDecoder(), signatures: [Array("GRY1".utf8)])
    }
}

let formats = CodecRegistry.standard.adding(.grayMap)

struct GrayMapService: AsyncImageDecoding {
    let upload: @Sendable (Data) async throws -> DecodedImage

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try GrayMapDecoder().inspect(data, limits: limits)
    }

    func decode(
        _ data: Data, options: DecodingOptions, priority: PriorityHandle
    ) async throws -> DecodedImage {
        try await upload(data)
    }
}

extension CodecRegistry.Entry {
    static func grayMap(decodedBy service: GrayMapService) -> Self {
        var entry = Self.grayMap
        entry.asyncDecoder = service
        return entry
    }
}

@Test func `the article's codec decodes complete files and throws for every prefix of one`() throws {
    let file = Data("GRY1".utf8) + Data([0, 2, 0, 1, 10, 200])
    let image = try formats.decode(file)

    #expect(image.size == PixelSize(width: 2, height: 1))
    #expect(image.format == .grayMap)
    #expect(image.pixels.withUnsafeBytes { Array($0.prefix(8)) } == [10, 10, 10, 255, 200, 200, 200, 255])
    for length in 0..<file.count {
        #expect(throws: ImageDecodingError.self) {
            try GrayMapDecoder().decode(file.prefix(length), options: DecodingOptions())
        }
    }
}

@Test func `the article's service decodes for callers that wait, and its codec for the others`() async throws {
    let file = Data("GRY1".utf8) + Data([0, 2, 0, 1, 10, 200])
    let service = GrayMapService { _ in .gray(side: 3) }
    let formats = CodecRegistry.standard.adding(.grayMap(decodedBy: service))
    let decoder = try #require(formats.asyncDecoder(for: file))

    let image = try await decoder.decode(file, options: DecodingOptions(), priority: PriorityHandle())

    #expect(image.size == PixelSize(width: 3, height: 3))
    #expect(try decoder.inspect(file, limits: DecodingLimits()).size == PixelSize(width: 2, height: 1))
    #expect(try formats.decode(file).size == PixelSize(width: 2, height: 1))
    #expect(formats.asyncDecoder(for: Data("GIF89a".utf8)) == nil)
}

@Test(arguments: DecoderConformance.checks)
func conforms(to check: DecoderConformance.Check) async throws {
    let file = Data("GRY1".utf8) + [0, 2, 0, 1, 10, 20]
    try await check { _ in (GrayMapDecoder(), file) }
}
