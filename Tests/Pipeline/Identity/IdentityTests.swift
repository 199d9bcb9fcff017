import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoPipeline
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// Random requests that differ in one part or several, over all layers. Every image must be the one that the server
/// made for the request that was sent.
@Suite(.timeLimit(.minutes(20)))
struct IdentityTests {
    @Test(arguments: 0..<24)
    func `no request receives what was made for another request`(seed: Int) async throws {
        var world = try World(seed: UInt64(seed), hasResponseCache: seed % 2 == 1, isFlaky: seed % 3 == 2)
        for _ in 0..<24 { try await world.runBatch() }
        #expect(world.checkedCount > 100)
    }
}

/// A server, caches, and two pipelines on them, which send different default fields.
private struct World {
    private static let names = ["1", "2"]

    private var random: SeededGenerator
    private let origin: Origin
    private let hasResponseCache: Bool
    private var memory = DictionaryMemoryCache()
    private let disk = FakeDataCache()
    private let responses: URLResponseCache
    private let pieces = FakeDataCache()
    /// The user whose token the downloaders' modifier adds; nil adds none.
    private let user = Watched<String?>(nil)
    private var pipelines: [ImagePipeline] = []
    private(set) var checkedCount = 0

    init(seed: UInt64, hasResponseCache: Bool, isFlaky: Bool) throws {
        random = SeededGenerator(seed: seed)
        origin = Origin(isHonestAboutCredentials: hasResponseCache, isFlaky: isFlaky)
        self.hasResponseCache = hasResponseCache
        responses = URLResponseCache()
        restart()
    }

    /// Begins the next process: the disk stays.
    private mutating func restart() {
        memory = DictionaryMemoryCache()
        let transport: any HTTPTransport =
            hasResponseCache ? CachingTransport(wrapping: origin, cache: responses) : origin
        pipelines = Self.names.map { name in
            var configuration = DownloaderConfiguration()
            configuration.defaultFields = ["User-Agent": "agent \(name)", "Accept": "image/\(name)"]
            configuration.resume = ResumePolicy(storage: pieces)
            configuration.resume?.minimumByteCount = 1
            configuration.modifyRequest = { [user] request in
                var request = request
                if let name = user.value { request.fields["X-User"] = name }
                return request
            }
            return ImagePipeline(
                ImagePipeline.Configuration(
                    downloader: Downloader(
                        transport: transport, configuration: configuration,
                        responseCache: hasResponseCache ? responses : nil),
                    codecs: MarkCodec.registry, memoryCache: memory, diskCache: disk))
        }
    }

    /// One load, and the request that the server must see.
    private struct Load: Sendable {
        var request: ImageRequest
        var sent: HTTPRequest
        var mark: UInt8
        var pipeline: ImagePipeline
        var loadsData: Bool
    }

    mutating func runBatch() async throws {
        if chance(6) { for pipeline in pipelines { await pipeline.flush() } }
        if chance(8) {
            for pipeline in pipelines { await pipeline.shutDown() }
            restart()
        }
        if chance(8) { memory.removeAll() }
        let name = chance(2) ? pick(Self.names) : nil
        user.update { $0 = name }
        let loads = try (0..<8).map { _ in try makeLoad(of: name) }
        let tasks = loads.map { load in Task { [origin] in try await Self.check(load, origin) } }
        for task in tasks where try await task.value { checkedCount += 1 }
    }

    /// Returns whether the load succeeded; a flaky server may end a transfer early.
    private static func check(_ load: Load, _ origin: Origin) async throws -> Bool {
        let expected = origin.content(for: load.sent)
        @Sendable func expect(_ image: DecodedImage, _ layer: String) {
            let (found, wanted) = (Mark(image).value, expected.value ^ UInt32(load.mark))
            if found != wanted {
                Issue.record("\(layer): \(found) instead of \(wanted) for \(load.sent) of \(load.request.key)")
            }
        }
        if let image = load.pipeline.cachedImage(for: load.request) { expect(image, "cachedImage") }
        do {
            if load.loadsData {
                let data = try await load.pipeline.data(for: load.request)
                #expect(data == expected.data, "\(load.sent)")
                return true
            }
            let response = try await load.pipeline.load(load.request, priority: PriorityHandle(.normal)) {
                if case .cached(let cached) = $0 { expect(cached.image, "cached first") }
            }
            expect(response.image, "\(response.layer)")
            return true
        } catch let error as PipelineError where error.code == .download {
            return false
        }
    }

    // MARK: Requests

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func makeLoad(of user: String?) throws -> Load {
        let pipelineIndex = pick([0, 1])
        let path = pick(Origin.paths)
        // The server ignores the query.
        let isSigned = chance(3)
        let credentials = chance(8) ? "\(pick(Self.names)):secret@" : ""
        let text = "http://\(credentials)h/\(path)\(isSigned ? "?signature=\(pick(Self.names))" : "")"
        var http = HTTPRequest(url: try #require(URL(string: text)))
        for field in Origin.fields where chance(9) { http.fields[field] = "\(field) \(pick(Self.names))" }
        if chance(12) { http.fields["Range"] = "bytes=0-\(pick([9, 10]))" }
        if chance(12) { http.fields["Accept-Encoding"] = pick(["identity", "identity;q=1"]) }
        if chance(10) {
            http.method = .post
            if chance(2) { http.body = Data(pick(Self.names).utf8) }
        }
        var request = ImageRequest(source: .http(http))
        if isSigned, chance(2) { request.resource = ResourceKey("image \(path)") }
        var sent = http
        let token = chance(4) ? pick(Self.names) : nil
        if let token {
            request.modifyRequest = { $0.fields["X-Token"] = "token \(token)" }
            sent.fields["X-Token"] = "token \(token)"
        }
        if let user { sent.fields["X-User"] = user }
        // The identifier names what the modifiers select.
        if chance(4) { request.additionalIdentifier = "\(user ?? "-") \(token ?? "-")" }
        let name = Self.names[pipelineIndex]
        if sent.fields["User-Agent"] == nil { sent.fields["User-Agent"] = "agent \(name)" }
        if sent.fields["Accept"] == nil { sent.fields["Accept"] = "image/\(name)" }
        let marks: [UInt8] = pick([[], [], [1], [2], [1, 2]])
        request.processors = marks.map { XorProcessor(mark: $0) }
        if chance(4) { request.decoding.target = TargetSize(width: 50, height: 50) }
        request.decoding.allowsPartial = chance(4)
        if chance(4) { request.codecs = MarkCodec.registry }
        request.dataCachePolicy = pick(DataCachePolicy.allCases)
        request.cachePolicy = pick([.all, .all, .all, .reload, .revalidate])
        if chance(8) { request.cachePolicy.disk = .none }
        if chance(8) { request.cachePolicy.memory = .none }
        request.showsCachedFirst = chance(8)
        return Load(
            request: request, sent: sent, mark: marks.reduce(0, ^), pipeline: pipelines[pipelineIndex],
            loadsData: marks.isEmpty && chance(6))
    }
}

/// A server with other contents for other requests. It names the fields on which a content depends in `Vary`, except
/// for those that belong to the key of a request anyway.
private final class Origin: HTTPTransport {
    /// The fields by which each path varies.
    private static let varyingFields: [String: [String]] = [
        "plain": [], "token": ["X-Token"], "agent": ["User-Agent"], "accept": ["Accept"],
        "all": ["X-Token", "X-User", "Accept", "DPR"], "user": ["x-user"],
    ]
    static let paths = varyingFields.keys.sorted()
    /// The own fields of requests.
    static let fields = ["X-Token", "X-User", "DPR", "User-Agent", "Authorization", "Cookie", "Accept-Language"]
    /// The fields that belong to keys, without those that an honest server must name.
    private static let keyFields = ["Authorization", "Cookie", "Accept-Language"]

    private let isHonestAboutCredentials: Bool
    private let isFlaky: Bool
    private let numbers = Watched<[String: UInt32]>([:])
    private let count = Watched(0)

    init(isHonestAboutCredentials: Bool, isFlaky: Bool) {
        self.isHonestAboutCredentials = isHonestAboutCredentials
        self.isFlaky = isFlaky
    }

    /// Returns the whole content, which depends on everything that the server may look at.
    private func whole(_ request: HTTPRequest) -> Data {
        let path = request.url.path
        let names = Self.varyingFields[String(path.dropFirst())]! + Self.keyFields
        var parts = [path, request.method.rawValue, String(decoding: request.body ?? Data(), as: UTF8.self)]
        parts += names.map { "\($0)=\(request.fields[$0] ?? "none")" }
        // The transport sends the user of the URL in the field.
        if request.fields["Authorization"] == nil { parts.append("user=\(request.url.user ?? "none")") }
        let number = numbers.update { numbers -> UInt32 in
            let known = numbers[parts.joined(separator: "\n")] ?? UInt32(numbers.count + 1)
            numbers[parts.joined(separator: "\n")] = known
            return known
        }
        // Parts of a number are other numbers.
        return Data("mark:\(100_000 + number)!the rest of the file".utf8)
    }

    func content(for request: HTTPRequest) -> (data: Data, value: UInt32) {
        let whole = whole(request)
        let range = request.fields["Range"].flatMap { Int($0.dropFirst("bytes=0-".count)) }
        let data = range.map { Data(whole.prefix($0 + 1)) } ?? whole
        return (data, MarkCodec.value(data) ?? 0)
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        // Others may join in the meantime. The results do not depend on whether they do.
        for _ in 0..<4 { await Task.yield() }
        let whole = whole(request)
        var fields: HTTPFields = [
            "ETag": "\"\(String(decoding: whole.prefix(11), as: UTF8.self))\"", "Cache-Control": "max-age=3600",
        ]
        var names = Self.varyingFields[String(request.url.path.dropFirst())]!
        if isHonestAboutCredentials { names += Self.keyFields }
        for name in names { fields.append("Vary", name) }
        var (status, data) = (200, whole)
        if let text = request.fields["Range"], let first = Int(text.dropFirst("bytes=".count).prefix { $0 != "-" }),
            request.fields["If-Range"].map({ $0 == fields["ETag"] }) != false
        {
            let last = Int(text.split(separator: "-").last ?? "") ?? whole.count - 1
            let end = text.hasSuffix("-") ? whole.count - 1 : min(last, whole.count - 1)
            status = 206
            data = Data(whole[first...end])
            fields["Content-Range"] = "bytes \(first)-\(end)/\(whole.count)"
        } else if let tag = request.fields["If-None-Match"], tag == fields["ETag"] {
            (status, data) = (304, Data())
        }
        if status != 304 { fields["Content-Length"] = "\(data.count)" }
        let number = count.update { count -> Int in
            count += 1
            return count
        }
        let head = HTTPResponseHead(url: request.url, status: status, fields: fields)
        guard isFlaky, number % 5 == 0 else { return HTTPResponse(head: head, body: HTTPBody(data)) }
        return HTTPResponse(head: head, body: HTTPBody(BrokenBody(Data(data.prefix(12)))))
    }
}

/// Sends bytes, then fails.
private final class BrokenBody: HTTPBodySource {
    private let rest: Watched<Data?>

    init(_ data: Data) { rest = Watched(data) }

    func next() async throws -> Data? {
        let bytes = rest.update { rest -> Data? in
            defer { rest = nil }
            return rest
        }
        guard let bytes, !bytes.isEmpty else { throw HTTPTransportError(.connectionLost, "it broke") }
        return bytes
    }

    func cancel() {}
}

/// A number as a gray image of four pixels.
private struct Mark {
    var value: UInt32

    init(value: UInt32) { self.value = value }

    init(_ image: DecodedImage) {
        value = image.pixels.tightBytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    var image: DecodedImage {
        let size = PixelSize(width: 2, height: 2)
        // Four bytes always fit in memory.
        let pixels = PixelBuffer(size: size, format: .gray8, alphaMode: .straight) { memory, bytesPerRow in
            for index in 0..<4 {
                memory[index / 2 * bytesPerRow + index % 2] = UInt8(truncatingIfNeeded: value >> (8 * (3 - index)))
            }
        }!
        return DecodedImage(pixels: pixels)
    }
}

/// Decodes "mark:" and decimal digits as the image of the number, and encodes it.
private struct MarkCodec: ImageDecoding, ImageEncoding {
    let format = ImageFormat(rawValue: "mark")

    static var registry: CodecRegistry {
        var entry = CodecRegistry.Entry(format: ImageFormat(rawValue: "mark"), decoder: Self()) {
            $0.contains(Array("mark:".utf8))
        }
        entry.makeEncoder = { _ in Self() }
        return CodecRegistry([entry])
    }

    static func value(_ data: Data) -> UInt32? {
        let text = String(decoding: data, as: UTF8.self)
        guard text.hasPrefix("mark:") else { return nil }
        return UInt32(text.dropFirst("mark:".count).prefix { $0.isNumber })
    }

    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        ImageInfo(format: format, size: PixelSize(width: 2, height: 2))
    }

    func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        guard let value = Self.value(data) else { throw ImageDecodingError(.corrupt, "no mark") }
        return Mark(value: value).image
    }

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data { Data("mark:\(Mark(image).value)".utf8) }
}

private struct XorProcessor: ImageProcessing {
    let mark: UInt8

    var identifier: String { "xor(\(mark))" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        Mark(value: Mark(image).value ^ UInt32(mark)).image
    }
}
