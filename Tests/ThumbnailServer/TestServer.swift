import Alcedo
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// A server in this process with its own origin, both on 127.0.0.1.
struct TestServer: Sendable {
    struct Response: Sendable {
        var status: Int
        var fields: HTTPFields
        var body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let origin: LoopbackOrigin
    let running: RunningServer
    let client = CURLTransport()

    var port: Int { running.port }

    /// Settings of a server that allows private addresses, caches responses in memory only, and waits long for an
    /// origin, because a test machine may be busy.
    static var settings: ServerStack.Settings {
        var settings = ServerStack.Settings()
        settings.allowsPrivateAddresses = true
        settings.limits.idleTimeout = .seconds(300)
        return settings
    }

    /// Runs a test on a server with these settings.
    static func run(
        clientTimeout: Duration = .seconds(300), responseTimeout: Duration = .seconds(300),
        idleGracePeriod: Duration = .zero,
        change: (inout ServerStack.Settings) -> Void = { _ in },
        handler: @escaping @Sendable (OriginRequest) -> OriginReply = TestServer.images,
        _ test: (TestServer) async throws -> Void
    ) async throws {
        let origin = try LoopbackOrigin(handler: handler)
        var settings = Self.settings
        change(&settings)
        let running = try RunningServer(
            settings,
            HTTPServer.Settings(
                clientTimeout: clientTimeout, responseTimeout: responseTimeout, idleGracePeriod: idleGracePeriod))
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(TestServer(origin: origin, running: running)))
        } catch {
            result = .failure(error)
        }
        origin.stop()
        await running.stop(grace: .seconds(5), storeTimeout: .seconds(300))
        try result.get()
    }

    /// The origin's files: an opaque and a transparent image, a bitmap, an icon, and a text.
    static let images: @Sendable (OriginRequest) -> OriginReply = { request in
        switch request.path {
        case "/opaque.png": .ok(opaque, type: "image/png")
        case "/clear.png": .ok(clear, type: "image/png")
        case "/pixel.bmp": .ok(bitmap, type: "image/bmp")
        case "/pixel.ico": .ok(icon, type: "image/vnd.microsoft.icon")
        case "/text": .text("the origin's own words")
        case "/gone": .status(410)
        case "/moved": OriginReply.redirect(to: "/opaque.png").setting("Cache-Control", "no-store")
        case "/broken": .status(500).setting("X-Secret", "secret")
        case let path where path.hasPrefix("/kept/"):
            OriginReply.ok(opaque).setting("Cache-Control", String(path.dropFirst(6)))
        default: .status(404)
        }
    }

    static let opaque = encoded(.coordinates(PixelSize(width: 64, height: 48)))

    static let clear: Data = {
        let size = PixelSize(width: 32, height: 32)
        let pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) { memory, _ in
            for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index / 3) }
        }
        return pixels.map { encoded(DecodedImage(pixels: $0)) } ?? Data()
    }()

    /// A bitmap of one gray pixel.
    private static let bitmap: Data = {
        let fileHeader: [UInt8] = [0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0]
        let row: [UInt8] = [9, 9, 9, 0]
        return Data(fileHeader + header(height: 1) + row)
    }()

    /// An icon of one pixel that the mask makes transparent. The height in the header counts the rows of the mask.
    private static let icon: Data = {
        let directory: [UInt8] = [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 24, 0, 48, 0, 0, 0, 22, 0, 0, 0]
        let rowAndMask: [UInt8] = [9, 9, 9, 0, 0x80, 0, 0, 0]
        return Data(directory + header(height: 2) + rowAndMask)
    }()

    /// Returns the second header of a bitmap that is one pixel wide and has 24 bits per pixel.
    private static func header(height: UInt8) -> [UInt8] {
        let fields: [UInt8] = [40, 0, 0, 0, 1, 0, 0, 0, height, 0, 0, 0, 1, 0, 24, 0]
        return fields + [UInt8](repeating: 0, count: 24)
    }

    private static func encoded(_ image: DecodedImage) -> Data { (try? PNGEncoder().encode(image)) ?? Data() }

    /// Returns the target of a thumbnail of the origin's file at a path.
    func target(_ path: String, _ parameters: String = "w=16") -> String {
        "/thumbnail?url=\(QueryItems.encoded(origin.url(for: path).absoluteString))&\(parameters)"
    }

    func get(_ target: String, _ fields: HTTPFields = [:], method: HTTPMethod = .get) async throws -> Response {
        try await Self.get(target, from: port, by: client, fields, method: method)
    }

    static func get(
        _ target: String, from port: Int, by client: CURLTransport, _ fields: HTTPFields = [:],
        method: HTTPMethod = .get
    ) async throws -> Response {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else { throw HTTPError(400, "no URL") }
        let response = try await client.send(
            HTTPRequest(method: method, url: url, fields: fields, idleTimeout: .seconds(300)))
        let body = try await response.body.collect(limit: 16 << 20)
        return Response(status: response.head.status, fields: response.head.fields, body: body)
    }

    /// Returns the decoded thumbnail.
    func image(_ target: String) async throws -> DecodedImage {
        try CodecRegistry.standard.decode(try await get(target).body)
    }

    /// Returns once a metric has a value.
    func wait(for name: String, toBe value: Double) async throws {
        try await eventually { try await number(name) == value }
    }

    /// Returns once a request waits for a slot, before it contacts its origin.
    func waitUntilQueued(_ target: String) async throws {
        try await eventually { running.isQueued(RequestHead(method: "GET", target: target)) }
    }

    func waitUntilWaiters(of target: String, are count: Int) async throws {
        try await eventually { running.waiterCount(for: RequestHead(method: "GET", target: target)) == count }
    }

    /// Returns a metric, or nil if none has the name.
    func number(_ name: String) async throws -> Double? {
        let text = try await get("/metrics").text
        return text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
