import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ImageRequestTests {
    private struct Step: ImageProcessing {
        let identifier: String

        func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
    }

    private struct Form: CacheSerializer {
        let identifier: String

        func bytes(
            of image: DecodedImage, original: Data?, in context: CacheSerializationContext
        ) -> (data: Data, isOriginal: Bool)? { nil }
    }

    private func request(_ change: (inout ImageRequest) -> Void = { _ in }) -> ImageRequest {
        var request = ImageRequest(source: .bytes(Data([1]), identity: "one"))
        change(&request)
        return request
    }

    private func sized(_ width: Int, _ mode: TargetSize.ContentMode = .fit) -> DecodingOptions {
        DecodingOptions(target: TargetSize(width: width, height: 1, mode: mode))
    }

    @Test func `a plain request has the key of the original`() {
        #expect(request().key == request().originalKey)
        #expect(request().key.variant.isEmpty)
    }

    @Test func `everything that changes the image changes the key once`() {
        let requests = [
            request(),
            request { $0.decoding = sized(1) },
            request { $0.decoding = sized(2) },
            request { $0.decoding = sized(1, .fill) },
            request { $0.decoding.alphaMode = .premultiplied },
            request { $0.decoding.appliesOrientation = false },
            request { $0.decoding.pixelFormat = .gray8 },
            request { $0.decoding.pixelFormat = .rgba16 },
            request { $0.decoding.allowsPartial = true },
            request { $0.decoding.tolerance = .harmless },
            request { $0.decoding.includesAnimation = false },
            request { $0.decoding.dynamicRange = .high },
            request { $0.colorSpace = .displayP3 },
            request { $0.colorSpace = .embedded },
            request { $0.processors = [Step(identifier: "a")] },
            request { $0.processors = [Step(identifier: "a"), Step(identifier: "b")] },
            request { $0.processors = [Step(identifier: "b"), Step(identifier: "a")] },
            request { $0.scale = 2 },
            request { $0.serializer = Form(identifier: "a") },
            request { $0.serializer = Form(identifier: "") },
            request { $0.additionalIdentifier = "" },
            request { $0.additionalIdentifier = "x" },
            request { $0.source = .bytes(Data([1]), identity: "two") },
            // Parts that imitate others.
            request { $0.processors = [Step(identifier: "a;9:process=b")] },
            request { $0.processors = [Step(identifier: "")] },
            request { $0.additionalIdentifier = "a;9:process=b" },
            request { $0.processors = [Step(identifier: "id=x")] },
            request { $0.processors = [Step(identifier: "serializer=a")] },
            request { $0.serializer = Form(identifier: "a;4:id=x") },
        ]
        #expect(Set(requests.map(\.key)).count == requests.count)
        #expect(Set(requests.map(\.key.fileName)).count == requests.count)
        // The original, its three identifiers, and the other source.
        #expect(Set(requests.map(\.originalKey)).count == 5)
    }

    @Test func `options that do not change the image do not change the key`() {
        let changed = request {
            $0.priority = .veryHigh
            $0.skipsQueue = true
            $0.alternativeSources = [.file("/b")]
            $0.cachePolicy = .none
            $0.userInfo[Key("a")] = 1
            $0.decoding.limits = DecodingLimits(maximumPixelCount: 5)
            $0.memoryTimeToLive = .seconds(1)
            $0.diskTimeToLive = .seconds(2)
            $0.codecs = CodecRegistry([])
            $0.shouldCache = { _ in false }
            $0.maximumDataByteCount = 1
        }
        #expect(changed.key == request().key)
        #expect(changed.originalKey == request().originalKey)
        #expect(changed.userInfo[Key("a")] == 1)
    }

    private typealias Key = ImageRequest.UserInfo.Key<Int>

    @Test func `user information is found by name and type, and copies are independent`() {
        let (number, text) = (Key("a"), ImageRequest.UserInfo.Key<String>("a"))
        var original = request()
        #expect(original.userInfo.isEmpty)
        original.userInfo[number] = 1
        original.userInfo[text] = "one"
        var copy = original
        copy.userInfo[number] = 2
        copy.userInfo[text] = nil

        #expect(original.userInfo[number] == 1)
        #expect(original.userInfo[text] == "one")
        #expect(copy.userInfo[number] == 2)
        #expect(copy.userInfo[text] == nil)
        copy.userInfo[number] = nil
        #expect(copy.userInfo.isEmpty)
    }

    @Test func `the time to live sets those of memory and disk, and is nil if they differ`() {
        var request = request()
        #expect(request.timeToLive == nil)
        request.timeToLive = .seconds(1)
        #expect([request.memoryTimeToLive, request.diskTimeToLive] == [.seconds(1), .seconds(1)])
        #expect(request.timeToLive == .seconds(1))
        request.memoryTimeToLive = .zero
        #expect(request.diskTimeToLive == .seconds(1))
        #expect(request.timeToLive == nil)
    }

    @Test func `the text of a variant is stable`() {
        let full = request {
            $0.decoding = sized(10, .fill)
            $0.decoding.alphaMode = .premultiplied
            $0.decoding.appliesOrientation = false
            $0.decoding.pixelFormat = .gray8
            $0.decoding.allowsPartial = true
            $0.decoding.includesAnimation = false
            $0.processors = [Step(identifier: "blur(2)")]
            $0.additionalIdentifier = "x"
        }
        #expect(
            full.key.variant
                == "16:target=10x1,fill;19:alpha=premultiplied;9:as-stored;12:format=gray8;7:partial;5:still;"
                + "15:process=blur(2);4:id=x")
    }

    @Test func `the caller's resource replaces the source's`() {
        let signed = request { $0.resource = ResourceKey("picture 5") }
        #expect(signed.originalKey == ImageKey(ResourceKey("picture 5")))
        #expect(signed.key == signed.originalKey)
    }

    @Test func `the caller's resource replaces the URL and nothing else`() throws {
        func request(_ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }) throws -> ImageRequest {
            var http = HTTPRequest(url: try #require(URL(string: url)))
            change(&http)
            return ImageRequest(source: .http(http), resource: ResourceKey("picture 5"))
        }
        let plain = try request("http://h/a?token=1")
        let others = [
            try request("http://h/a") { $0.fields["Authorization"] = "one" },
            try request("http://h/a") { $0.fields["Authorization"] = "two" },
            try request("http://h/a") { $0.fields["Range"] = "bytes=0-9" },
            try request("http://h/a") { $0.method = .post },
            try request("http://h/a") { $0.body = Data([1]) },
            try request("http://me:secret@h/a"),
            try request("http://you:secret@h/a"),
        ]
        #expect(plain.key == ImageKey(ResourceKey("picture 5")))
        #expect(try request("http://other/b").key == plain.key)
        #expect(Set(others.map(\.key) + [plain.key]).count == others.count + 1)
        #expect(others.allSatisfy { $0.key.resource.description.hasPrefix("picture 5 ") })
        #expect(others.allSatisfy { !$0.key.description.contains("secret") })
    }

    @Test func `an identifier belongs to the original, and is no variant of it`() {
        let account = request { $0.additionalIdentifier = "account 7" }
        #expect(account.key == account.originalKey)
        #expect(!account.isVariant)
        #expect(account.originalKey != request().originalKey)
        let small = request {
            $0.additionalIdentifier = "account 7"
            $0.decoding = sized(1)
        }
        #expect(small.originalKey == account.originalKey)
        #expect(small.isVariant)
    }

    @Test func `the keys of a local file change with the file`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "a").path
        var request = ImageRequest(source: .file(path), processors: [Step(identifier: "x")])
        func keys() -> [ImageKey] { [request.key, request.originalKey] }
        var seen = [keys()]
        for content in ["a", "ab"] {
            try Data(content.utf8).write(to: URL(filePath: path))
            seen.append(keys())
            #expect(keys() == seen.last)
        }

        #expect(Set(seen.joined()).count == 6)
        #expect(Set(seen.joined().map(\.resource)) == [ResourceKey("file:\(path)")])
        #expect(request.isVariant)
        #expect(request.unversionedKey.variant == "9:process=x")
        request.tracksFileChanges = false
        #expect(request.key.variant == "9:process=x")
        #expect(request.originalKey.variant.isEmpty)
    }

    @Test func `a request keeps its given file version`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "a").path
        let request = ImageRequest(source: .file(path)).withFileVersion
        let key = request.key

        try Data([1]).write(to: URL(filePath: path))

        #expect(request.key == key)
        #expect(request.originalKey == key)
        #expect(!request.isVariant)
        #expect(ImageRequest(source: .file(path)).key != key)
    }

    @Test(arguments: ["ftp://h/a", "https://h/a?b", "file:///a%20b"])
    func `a request has the URL that it was created with`(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(ImageRequest(url: url).url?.absoluteString == text)
    }

    @Test func `sources without a URL return nil`() throws {
        let sources: [ImageSource] = [
            .dataURL("data:,a"), .bytes(Data(), identity: "a"), .provider(identity: "a") { Data() },
            .image(.gray(side: 1), identity: "a"),
        ]
        for source in sources { #expect(ImageRequest(source: source).url == nil) }
    }

    @Test func `a description contains source, target and processors, and no credentials`() throws {
        var request = ImageRequest(url: try #require(URL(string: "https://me:secret@example.com/a.jpg")))
        #expect("\(request)" == "https://example.com/a.jpg")
        request.processors = [Step(identifier: "resize:320xany"), Step(identifier: "circle")]
        #expect("\(request)" == "https://example.com/a.jpg (resize:320xany, circle)")
        request.decoding = sized(2)
        request.processors = []
        #expect("\(request)" == "https://example.com/a.jpg (target:2x1,fit)")
    }

    @Test(arguments: [
        (ImageSource.file("/a b"), "/a b"), (.dataURL("data:image/png;base64,AAAA"), "data:image/png;base64,..."),
        (.bytes(Data(), identity: "x"), "x"), (.provider(identity: "x") { Data() }, "provider x"),
        (.image(.gray(side: 1), identity: "x"), "image x"),
    ])
    func `a description covers every kind of source`(source: ImageSource, text: String) {
        #expect("\(ImageRequest(source: source))" == text)
    }

    @Test func `policies read and write as their names say`() {
        #expect(CachePolicy.all.memory == .all)
        #expect(CachePolicy.all.disk == .all)
        #expect(CachePolicy.all.allowsNetwork)
        #expect(CachePolicy.reload.memory == .write)
        #expect(CachePolicy.reload.disk == .write)
        #expect(CachePolicy.reload.response == .write)
        #expect(CachePolicy.reload.allowsNetwork)
        #expect(CachePolicy.cacheOnly.disk == .all)
        #expect(!CachePolicy.cacheOnly.allowsNetwork)
        #expect(CachePolicy.none.memory == CachePolicy.Access.none)
        #expect(CachePolicy.none.disk == CachePolicy.Access.none)
        #expect(CachePolicy.none.response == CachePolicy.Access.none)
    }
}
