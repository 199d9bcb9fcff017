import AlcedoCodecs
import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CacheSerializerTests {
    private let codecs = CodecRegistry.standard
    private let image = DecodedImage.coordinates(PixelSize(width: 20, height: 10))

    private func file(_ format: ImageFormat, _ image: DecodedImage? = nil) throws -> Data {
        try #require(codecs.encoder(for: format)).encode(image ?? self.image)
    }

    private func format(of bytes: (data: Data, isOriginal: Bool)?) -> ImageFormat? {
        bytes.flatMap { codecs.entry(for: $0.data)?.format }
    }

    /// An image with transparent pixels.
    private var holed: DecodedImage {
        var image = image
        image.pixels = image.pixels.reinterpreted(as: .straight)
        image.pixels.withUnsafeMutableBytes { $0[3] = 0 }
        return image
    }

    private var animation: DecodedImage {
        var image = image
        var second = image.pixels
        second.withUnsafeMutableBytes { $0[0] = 200 }
        image.frames = MadeFrames(image.pixels, second)
        image.format = .gif
        return image
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .gif, .webp])
    func `a processed image is encoded in the format of its original`(format: ImageFormat) throws {
        let original = try file(format, .gray(side: 5))
        let bytes = DefaultCacheSerializer().bytes(of: image, original: original, isProcessed: true, codecs: codecs)
        #expect(self.format(of: bytes) == format)
        #expect(bytes?.isOriginal == false)
        let back = try DefaultCacheSerializer().image(
            from: try #require(bytes?.data), options: DecodingOptions(), codecs: codecs)
        #expect(back.size == image.size)
    }

    @Test(arguments: [ImageFormat.gif, .webp, .png])
    func `stored animations keep the exact delays, other encoders write those that browsers show`(
        format: ImageFormat
    ) throws {
        func rawDelays(_ data: Data?) throws -> [Duration] {
            let image = try codecs.decode(try #require(data))
            let frames = try #require(image.frames)
            return (0..<frames.frameCount).map(frames.rawDelay)
        }
        var animation = animation
        let second = try #require(try animation.frames?.frame(at: 1))
        animation.frames = MadeFrames(
            animation.size, [(animation.pixels, .zero), (second, .milliseconds(10)), (image.pixels, .milliseconds(20))])

        let stored = DefaultCacheSerializer(format: format).bytes(
            of: animation, original: nil, isProcessed: true, codecs: codecs)

        #expect(self.format(of: stored) == format)
        #expect(try rawDelays(stored?.data) == [0, 10, 20].map { .milliseconds($0) })
        #expect(try rawDelays(file(format, animation)) == [100, 100, 20].map { .milliseconds($0) })
    }

    @Test(arguments: [ImageFormat.png, .webp])
    func `at the best quality lossless formats lose nothing`(format: ImageFormat) throws {
        let bytes = DefaultCacheSerializer().bytes(
            of: image, original: try file(format), isProcessed: true, codecs: codecs)
        #expect(try codecs.decode(try #require(bytes?.data)).pixels.tightBytes == image.pixels.tightBytes)
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .gif, .webp])
    func `an unprocessed image is stored as its original bytes`(format: ImageFormat) throws {
        let original = try file(format)
        let bytes = DefaultCacheSerializer().bytes(of: image, original: original, isProcessed: false, codecs: codecs)
        #expect(bytes?.data == original)
        #expect(bytes?.isOriginal == true)
    }

    @Test func `an option stores the original bytes for processed images, too`() throws {
        let original = try file(.jpeg)
        let bytes = DefaultCacheSerializer(prefersOriginalData: true).bytes(
            of: image, original: original, isProcessed: true, codecs: codecs)
        #expect(bytes?.data == original)
        #expect(bytes?.isOriginal == true)
    }

    @Test(arguments: [false, true])
    func `an image without an original is encoded as PNG`(isProcessed: Bool) {
        for original in [nil, Data()] {
            for prefersOriginalData in [false, true] {
                let bytes = DefaultCacheSerializer(prefersOriginalData: prefersOriginalData).bytes(
                    of: image, original: original, isProcessed: isProcessed, codecs: codecs)
                #expect(format(of: bytes) == .png)
            }
        }
    }

    @Test func `bytes of an unknown format are stored for the original, not for a processed image`() {
        let original = Data("unknown".utf8)
        let serializer = DefaultCacheSerializer()
        let kept = serializer.bytes(of: image, original: original, isProcessed: false, codecs: codecs)
        #expect(kept?.data == original)
        #expect(kept?.isOriginal == true)
        let made = serializer.bytes(of: image, original: original, isProcessed: true, codecs: codecs)
        #expect(format(of: made) == .png)
    }

    @Test func `quality applies to lossy formats`() throws {
        let original = try file(.jpeg)
        let sizes = [1, 0.5, 0, -3, .nan].map { quality in
            DefaultCacheSerializer(quality: quality).bytes(
                of: image, original: original, isProcessed: true, codecs: codecs)?.data.count ?? 0
        }
        #expect(sizes[0] > sizes[1])
        #expect(sizes[1] > sizes[2])
        #expect(sizes[2] > 0)
        #expect(sizes[3] == sizes[2])
        #expect(sizes[4] == sizes[2])
    }

    @Test func `JPEG is not used for an image with transparency`() throws {
        let bytes = DefaultCacheSerializer().bytes(
            of: holed, original: try file(.jpeg), isProcessed: true, codecs: codecs)
        #expect(format(of: bytes) == .png)
        #expect(try codecs.decode(try #require(bytes?.data)).pixels.rgba(0, 0)[3] == 0)
    }

    @Test(arguments: [ImageFormat.gif, .webp, .png])
    func `an animation keeps its frames`(format: ImageFormat) throws {
        var image = animation
        image.format = format
        for original in [nil, try file(format)] {
            let bytes = DefaultCacheSerializer().bytes(
                of: image, original: original, isProcessed: true, codecs: codecs)
            #expect(self.format(of: bytes) == format)
            #expect(try codecs.decode(try #require(bytes?.data)).frames?.frameCount == 2)
        }
    }

    @Test func `an animation whose format has no encoder is stored as its original`() throws {
        let original = try file(.jpeg)
        let bytes = DefaultCacheSerializer().bytes(of: animation, original: original, isProcessed: true, codecs: codecs)
        #expect(bytes?.data == original)
        #expect(bytes?.isOriginal == true)
    }

    @Test func `an animation without an original is encoded in a format that supports it, or as its first frame`()
        throws
    {
        var image = animation
        image.format = .jpeg
        let bytes = DefaultCacheSerializer().bytes(of: image, original: nil, isProcessed: true, codecs: codecs)
        #expect(try codecs.decode(try #require(bytes?.data)).frames?.frameCount == 2)

        // An encoder of still images.
        struct Still: ImageEncoding {
            let format = ImageFormat.png

            func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
                try ImageEncoder.png().encode(DecodedImage(pixels: image.pixels))
            }
        }
        var entry = CodecRegistry.Entry.png
        entry.makeEncoder = { _ in Still() }
        let still = DefaultCacheSerializer().bytes(
            of: image, original: nil, isProcessed: true, codecs: CodecRegistry([.jpeg, entry]))
        #expect(format(of: still) == .png)
        #expect(try codecs.decode(try #require(still?.data)).frames == nil)
    }

    @Test func `without any encoder the original is stored, or nothing`() throws {
        let readers = CodecRegistry(
            codecs.entries.map { entry in
                var reader = entry
                reader.makeEncoder = nil
                return reader
            })
        let original = try file(.png)
        for serializer in [DefaultCacheSerializer(), DefaultCacheSerializer(format: .png)] {
            let kept = serializer.bytes(of: image, original: original, isProcessed: true, codecs: readers)
            #expect(kept?.data == original)
            #expect(kept?.isOriginal == true)
            #expect(serializer.bytes(of: image, original: nil, isProcessed: true, codecs: readers) == nil)
        }
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .gif, .webp])
    func `a fixed format is used whatever the original is`(format: ImageFormat) throws {
        for original in [nil, try file(.png), Data("unknown".utf8)] {
            let bytes = DefaultCacheSerializer(format: format).bytes(
                of: image, original: original, isProcessed: false, codecs: codecs)
            #expect(self.format(of: bytes) == format)
        }
    }

    @Test func `a format without an encoder falls back to the original's format, then to PNG`() throws {
        let serializer = DefaultCacheSerializer(format: ImageFormat(rawValue: "none"))
        for (original, expected) in [(try file(.webp), ImageFormat.webp), (Data("?".utf8), .png)] {
            let bytes = serializer.bytes(of: image, original: original, isProcessed: false, codecs: codecs)
            #expect(format(of: bytes) == expected)
        }
    }

    @Test func `asynchronous encoders write the formats of others, and HDR as PNG`() throws {
        struct Remote: AsyncImageEncoding {
            let format: ImageFormat

            func encode(_ image: DecodedImage) async throws -> Data { Data() }
        }
        let remote = CodecRegistry(
            codecs.entries.map { entry in
                var entry = entry
                let format = entry.format
                entry.makeAsyncEncoder = { _ in Remote(format: format) }
                return entry
            })
        var deep = image
        deep.pixels = try #require(PixelBuffer(size: image.size, format: .rgba16, alphaMode: .opaque) { _, _ in })
        deep.colorProfile = try #require(ColorDescription(primaries: 9, transfer: 16)).profile(isGray: false)
        let original = try file(.jpeg)
        func format(_ image: DecodedImage, _ serializer: DefaultCacheSerializer, isProcessed: Bool) -> ImageFormat? {
            let context = CacheSerializationContext(
                key: ImageKey(ResourceKey("a")), isProcessed: isProcessed, codecs: remote)
            return serializer.asyncEncoder(of: image, original: original, in: context)?.format
        }

        #expect(format(image, DefaultCacheSerializer(), isProcessed: true) == .jpeg)
        #expect(format(image, DefaultCacheSerializer(), isProcessed: false) == nil)
        #expect(format(image, DefaultCacheSerializer(prefersOriginalData: true), isProcessed: true) == nil)
        #expect(format(image, DefaultCacheSerializer(format: .webp), isProcessed: false) == .webp)
        #expect(format(deep, DefaultCacheSerializer(), isProcessed: true) == .png)
    }

    @Test func `decoding bytes of no known format throws an error`() {
        #expect(throws: ImageDecodingError.self) {
            try DefaultCacheSerializer().image(from: Data("?".utf8), options: DecodingOptions(), codecs: codecs)
        }
    }
}

extension DefaultCacheSerializer {
    fileprivate func bytes(
        of image: DecodedImage, original: Data?, isProcessed: Bool, codecs: CodecRegistry
    ) -> (data: Data, isOriginal: Bool)? {
        let key = ImageKey(ResourceKey("a"))
        return bytes(
            of: image, original: original,
            in: CacheSerializationContext(key: key, isProcessed: isProcessed, codecs: codecs))
    }

    fileprivate func image(
        from data: Data, options: DecodingOptions, codecs: CodecRegistry
    ) throws(ImageDecodingError) -> DecodedImage {
        let key = ImageKey(ResourceKey("a"))
        return try image(from: data, in: CacheSerializationContext(key: key, codecs: codecs, decoding: options))
    }
}
