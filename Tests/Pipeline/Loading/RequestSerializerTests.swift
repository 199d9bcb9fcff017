import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RequestSerializerTests {
    private let disk = FakeDataCache()

    /// A request for the image at "a" of level 8, or of level 7 without a processor, that stores it.
    private func request(
        _ serializer: (any CacheSerializer)?, isProcessed: Bool = true, _ policy: DataCachePolicy = .processed
    ) throws -> ImageRequest {
        try web("a") {
            if isProcessed { $0.processors = [Brighten(step: 1)] }
            $0.serializer = serializer
            $0.dataCachePolicy = policy
        }
    }

    /// A pipeline of another process on the same disk.
    private func stack(_ serializer: any CacheSerializer = DefaultCacheSerializer()) -> Stack {
        Stack(FakeDownloader(giving: level(7)), disk: disk, serializer: serializer)
    }

    private func data(_ request: ImageRequest) -> Data? { disk.entries.value[request.key]?.data }

    @Test(arguments: [true, false])
    func `a serializer learns key and request when it writes and reads`(isOfRequest: Bool) async throws {
        let serializer = AddingSerializer(number: 10)
        let request = try request(isOfRequest ? serializer : nil)
        let writer = stack(isOfRequest ? DefaultCacheSerializer() : serializer)
        #expect(try await writer.load(request).image.level == 8)
        await writer.pipeline.flush()
        #expect(data(request) == level(18))
        let reader = stack(isOfRequest ? DefaultCacheSerializer() : serializer)
        let response = try await reader.load(request)
        #expect(response.image.level == 18)
        #expect(response.layer == .disk)

        for contexts in [serializer.writes, serializer.reads] {
            let context = try #require(contexts.value.first)
            #expect(contexts.value.count == 1)
            #expect(context.key == request.key)
            #expect(context.request?.processors.map(\.identifier) == ["brighten(1)"])
            #expect(context.isProcessed)
        }
    }

    @Test func `images of different serializers never meet, in memory and on disk`() async throws {
        let requests = try ([10, 20, nil, 30] as [UInt8?]).map { number in
            try request(number.map { AddingSerializer(number: $0) })
        }
        let stack = stack()
        for request in requests {
            #expect(stack.pipeline.cachedImage(for: request) == nil)
            #expect(try await stack.load(request).image.level == 8)
        }
        await stack.pipeline.flush()
        // The bytes and the decoded image are shared.
        #expect(stack.downloader.count == 1)
        #expect(stack.codec.decodes.value == 1)

        let next = self.stack()
        for _ in 0..<2 {
            for (request, level) in zip(requests, [18, 28, 8, 38] as [UInt8]) {
                #expect(try await next.load(request).image.level == level)
            }
        }
        #expect(next.downloader.count == 0)
    }

    @Test func `equal identifiers share the image`() async throws {
        let stack = stack()
        _ = try await stack.load(try request(AddingSerializer(number: 10)))
        await stack.pipeline.flush()
        #expect(stack.pipeline.cachedImage(for: try request(AddingSerializer(number: 10)))?.level == 8)
        #expect(try await self.stack().load(try request(AddingSerializer(number: 10))).image.level == 18)
    }

    @Test(arguments: DataCachePolicy.allCases)
    func `an unchanged image is stored in the form of its serializer where images are stored`(
        policy: DataCachePolicy
    ) async throws {
        let serializer = AddingSerializer(number: 10)
        let request = try request(serializer, isProcessed: false, policy)
        let stack = stack()
        _ = try await stack.load(request)
        await stack.pipeline.flush()

        #expect(data(request) == (policy == .original ? nil : level(17)))
        #expect(stack.stored(request) == (policy == .processed ? nil : level(7)))
        #expect(serializer.writes.value.map(\.isProcessed) == (policy == .original ? [] : [false]))
    }

    @Test func `an unchanged image whose serializer keeps the original is found again`() async throws {
        let request = try request(DefaultCacheSerializer(), isProcessed: false)
        let writer = stack()
        _ = try await writer.load(request)
        await writer.pipeline.flush()
        #expect(data(request) == level(7))

        let reader = stack()
        #expect(try await reader.load(request).layer == .disk)
        #expect(reader.downloader.count == 0)
    }

    @Test func `the original is not stored as a processed image`() async throws {
        let request = try request(DefaultCacheSerializer(prefersOriginalData: true))
        let stack = stack()
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        #expect(disk.count == 0)
    }

    @Test func `an image of the app is stored by the serializer of its request`() async throws {
        let stack = stack()
        let serializer = AddingSerializer(number: 10)
        let request = try request(serializer)
        try await stack.pipeline.cache.store(.gray(side: 1, level: 1), for: request)
        #expect(data(request) == level(11))
        #expect(serializer.writes.value.map(\.isProcessed) == [true])

        let error = await #expect(throws: PipelineError.self) {
            try await stack.pipeline.cache.store(
                .gray(side: 1), for: try self.request(EncoderCacheSerializer(FailingEncoder(), identifier: "none")))
        }
        #expect(error?.code == .notStored)
        #expect(error?.message.contains("serializer of the request") == true)
    }

    @Test func `a request has its encoder`() async throws {
        let request = try request(EncoderCacheSerializer(FakeEncoder(), identifier: "fake"))
        let stack = stack(AddingSerializer(number: 10))
        _ = try await stack.load(request)
        await stack.pipeline.flush()
        #expect(data(request) == level(8))
    }

    @Test func `an encoder that cannot hold or encode an image stores nothing`() throws {
        let context = CacheSerializationContext(key: try web("a").key, codecs: FakeCodec().registry)
        let serializer = EncoderCacheSerializer(FakeEncoder(), identifier: "fake")
        var image = DecodedImage.gray(side: 1, level: 5)
        #expect(serializer.bytes(of: image, original: level(1), in: context)?.data == level(5))
        #expect(serializer.bytes(of: image, original: level(1), in: context)?.isOriginal == false)
        let failing = EncoderCacheSerializer(FailingEncoder(), identifier: "failing")
        #expect(failing.bytes(of: image, original: level(1), in: context) == nil)
        image.frames = MadeFrames(image.pixels, image.pixels)
        #expect(serializer.bytes(of: image, original: level(1), in: context) == nil)
    }

    @Test func `different parameters of the default serializer are different identifiers`() {
        let serializers = [
            DefaultCacheSerializer(), DefaultCacheSerializer(quality: 0.5), DefaultCacheSerializer(format: .webp),
            DefaultCacheSerializer(format: .png), DefaultCacheSerializer(prefersOriginalData: true),
        ]
        #expect(Set(serializers.map(\.identifier)).count == serializers.count)
        #expect(DefaultCacheSerializer(quality: 0.5).identifier == DefaultCacheSerializer(quality: 0.5).identifier)
    }
}

/// Encodes nothing.
private struct FailingEncoder: ImageEncoding {
    let format = ImageFormat(rawValue: "level")

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        throw ImageEncodingError(.failed, "as told")
    }
}
