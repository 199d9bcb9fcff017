import Alcedo
import AlcedoHTTP
import AlcedoTesting
import TestSupport
import Testing

@testable import thumbnail_server

struct QueryTests {
    private func query(_ text: String, accept: String? = nil) throws(HTTPError) -> ThumbnailQuery {
        try ThumbnailQuery(QueryItems("url=https://a.test/p.png&\(text)"), accept: accept, maximumSide: 1000)
    }

    @Test func `names and values are decoded, and a plus stays a plus`() throws {
        let items = try QueryItems("a=%41%20%C3%A9+&b&c=1=2&=x")
        #expect(items["a"] == "A é+")
        #expect(items["b"] == "")
        #expect(items["c"] == "1=2")
        #expect(items[""] == "x")
        #expect(items["d"] == nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%FF", "%=1", "a=%C3", "a=1&a=2", "a=1&%61=2"])
    func `invalid percent encoding and repeated parameters are refused`(text: String) {
        #expect(throws: HTTPError.self) { try QueryItems(text) }
    }

    @Test func `too many parameters and too long queries are refused`() {
        let many = (0..<17).map { "p\($0)=1" }.joined(separator: "&")
        #expect(throws: HTTPError(400, "the query has too many parameters")) { try QueryItems(many) }
        #expect(throws: HTTPError(414, "the query is too long")) {
            try QueryItems("a=" + String(repeating: "x", count: QueryItems.byteLimit))
        }
    }

    @Test func `random queries are refused or valid`() throws {
        var random = SeededGenerator(seed: 11)
        let words = [
            "url=", "w=", "h=", "fit=", "format=", "quality=", "sig=", "expires=", "http://", "https://", "HTTP://",
            "a.test",
            "A.test.", "[::1]", "127.0.0.1", ":80", ":0", ":65536", "/", "@", "#", "?", "%3A", "%", "%41", "+", ";",
            "*.", "..",
            "0", "1", "10", "100", "101", "-1", "fill", "fit", "exact", "auto", "webp", "png", "\u{7F}", "\u{E9}", "=",
            " ",
        ]
        func rubbish(_ count: ClosedRange<Int>) -> String {
            (0..<Int.random(in: count, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }.joined()
        }
        var (queries, sources, patterns) = (0, 0, 0)
        for _ in 0..<20_000 {
            if let items = try? QueryItems((0...5).map { _ in rubbish(1...3) }.joined(separator: "&")) {
                let canonical = items.canonical(without: "sig")
                #expect(try QueryItems(canonical).canonical(without: "sig") == canonical)
            }
            let text = "url=http://a.test/\(rubbish(0...2))&w=\(rubbish(1...2))&" + rubbish(0...2)
            if let query = try? ThumbnailQuery(QueryItems(text), accept: text, maximumSide: 100) {
                queries += 1
                #expect((1...100).contains(query.size.width))
                #expect((1...100).contains(query.size.height))
                #expect((0...100).contains(query.quality))
                #expect(query.source.host == "a.test")
            }
            if let source = try? SourceURL((Bool.random(using: &random) ? "http://" : "") + rubbish(1...4)) {
                sources += 1
                #expect(["http", "https"].contains(source.scheme))
                #expect((1...65_535).contains(source.port))
                #expect(!source.host.isEmpty)
                #expect(source.host == source.host.lowercased())
                #expect(!source.host.contains { "@%/?#+*;= ".contains($0) }, "\(source.host)")
                let host = source.host.contains(":") ? "[\(source.host)]" : source.host
                let own = OriginPattern("\(source.scheme)://\(host):\(source.port)")
                #expect(own?.matches(source) == true, "\(source.url)")
            }
            if let pattern = OriginPattern(rubbish(1...3)) {
                patterns += 1
                let others = try ["http", "https"].map { try SourceURL("\($0)://elsewhere.example/") }
                #expect(!others.contains(where: pattern.matches))
            }
        }
        // Enough of it is nearly valid.
        #expect(queries > 100)
        #expect(sources > 100)
        #expect(patterns > 100)
    }

    @Test func `a canonical query has sorted parameters and one encoding`() throws {
        let items = try QueryItems("w=1&url=https://a/%7eb&sig=x&h=%32")
        #expect(items.canonical(without: "sig") == "h=2&url=https%3A%2F%2Fa%2F~b&w=1")
    }

    @Test(arguments: [
        "", "w=0", "w=-1", "w=+1", "w=1001", "w=", "w=x", "w=99999999999999999999", "w=10&fit=cover", "w=10&fit=fill",
        "h=10&fit=exact", "w=10&format=gif", "w=10&quality=0", "w=10&quality=101", "w=10&x=1", "w=10&W=1",
        "w=10&fit=contain", "w=10&h=10&position=top", "w=10&h=10&fit=exact&position=top",
        "w=10&h=10&fit=fill&position=", "w=10&h=10&fit=fill&position=middle", "w=10&h=10&fit=fill&position=10",
        "w=10&h=10&fit=fill&position=10,101", "w=10&h=10&fit=fill&position=-1,0",
        "w=10&h=10&fit=contain&position=smart",
    ])
    func `a query with an invalid parameter receives 400`(text: String) {
        let error = #expect(throws: HTTPError.self) { try query(text) }
        #expect(error?.status == 400)
    }

    @Test func `the origin's timeout follows the option`() throws {
        let request = try query("w=10").imageRequest(
            DecodingLimits(), idleTimeout: .seconds(60), maximumAge: .seconds(90))
        guard case .http(let request) = request.source else {
            Issue.record("it is no request")
            return
        }
        #expect(request.idleTimeout == .seconds(60))
        // The same for a copy of its image.
        #expect(request.fields["Cache-Control"] == "max-age=90")
    }

    @Test(
        arguments: [(31, 1), (1, 31), (1, 1), (3, 2), (200, 150), (150, 200), (9, 8)],
        ["fill", "exact", "fit", "contain", "fill&position=smart", "fill&position=0,100", "contain&position=topLeft"])
    func `no intermediate image exceeds original and thumbnail`(side: (Int, Int), fit: String) throws {
        let request = try query("w=90&h=80&fit=\(fit)").imageRequest(
            DecodingLimits(), idleTimeout: .seconds(1), maximumAge: .seconds(1))
        let size = PixelSize(width: side.0, height: side.1)
        var image = DecodedImage.coordinates(size)
        for processor in request.processors {
            image = try processor.process(image)
            #expect(image.size.pixelCount <= max(size.pixelCount, 90 * 80))
        }
        if fit != "fit" { #expect(image.size == PixelSize(width: 90, height: 80)) }
    }

    @Test func `cover keeps the middle in the requested proportions`() throws {
        let request = try query("w=30&h=20&fit=fill").imageRequest(
            DecodingLimits(), idleTimeout: .seconds(1), maximumAge: .seconds(1))
        // By its pixel positions the middle of the thumbnail is that of the original, and its corners are 40 x 60
        // apart.
        let image = try request.processors.reduce(DecodedImage.coordinates(PixelSize(width: 60, height: 200))) {
            try $1.process($0)
        }
        let samples = image.pixels.withUnsafeBytes { Array($0) }
        let last = 19 * image.pixels.bytesPerRow + 29 * 4
        #expect(abs(Int(samples[1]) - 80) <= 2)
        #expect(abs(Int(samples[last + 1]) - 119) <= 2)
        #expect(samples[0] <= 2)
        #expect(samples[last] >= 57)
    }

    @Test(arguments: [
        ("top", 0, 0), ("bottom", 0, 140), ("center", 0, 70), ("50,0", 0, 0), ("0,100", 0, 140), ("50,50", 0, 70),
    ])
    func `a thumbnail shows the part at the position`(position: String, x: Int, y: Int) throws {
        let request = try query("w=60&h=60&fit=fill&position=\(position)").imageRequest(
            DecodingLimits(), idleTimeout: .seconds(1), maximumAge: .seconds(1))

        let image = try request.processors.reduce(DecodedImage.coordinates(PixelSize(width: 60, height: 200))) {
            try $1.process($0)
        }

        let samples = image.pixels.withUnsafeBytes { Array($0) }
        #expect(image.size == PixelSize(width: 60, height: 60))
        #expect(Int(samples[0]) == x)
        #expect(Int(samples[1]) == y)
    }

    @Test(arguments: [
        ("/a?b=http://c/d", "/a?b=http://c/d"), ("http://a.test/b?c", "/b?c"), ("HTTPS://a.test:1/b", "/b"),
        ("http://a.test", "/"), ("http://a.test?b", "/?b"), ("ftp://a.test/b", "ftp://a.test/b"), ("*", "*"),
        ("http:/a", "http:/a"), ("", ""),
    ])
    func `a target in absolute form equals its path`(target: String, expected: String) {
        #expect(RequestHead.originForm(target) == expected)
    }

    @Test func `a missing side counts as the maximum`() throws {
        #expect(try query("w=10").size == PixelSize(width: 10, height: 1000))
        #expect(try query("h=10").size == PixelSize(width: 1000, height: 10))
    }

    @Test(arguments: [
        ("image/webp", true), ("text/html,image/webp,*/*;q=0.8", true), ("IMAGE/WEBP;q=0.1", true),
        ("image/webp ; q=1.000", true), ("image/webp;q=0", false), ("image/webp;q=0.0", false), ("image/*", false),
        ("*/*", false), ("", false), ("image/webpx", false), ("image/webp;q=x", false), ("image/webp;q=inf", false),
        ("image/webp;q=2", false), ("image/webp;q=0x1p3", false), ("image/webp;q=0.0001", false),
        ("image/webp;q=0.001", true), ("image/webp;q=1", true), ("image/webp;q=1.001", false), (",,;;q=,", false),
    ])
    func `webp is accepted by name with a weight above zero`(field: String, isAccepted: Bool) throws {
        #expect(AcceptField(field).accepts(.webp) == isAccepted)
        let query = try query("w=10", accept: field)
        #expect(query.format == (isAccepted ? .webp : .plain))
        #expect(query.isNegotiated)
    }

    @Test func `the first format of the list that the client accepts is used`() throws {
        let items = try QueryItems("url=https://a.test/p.png&w=10")
        func format(_ negotiated: [ThumbnailFormat], _ accept: String) throws -> ThumbnailFormat {
            try ThumbnailQuery(items, accept: accept, maximumSide: 100, negotiated: negotiated).format
        }

        #expect(try format([.webp, .jpeg, .png], "image/png,image/jpeg;q=0.5,image/webp;q=0") == .jpeg)
        #expect(try format([.png, .webp], "image/webp,image/png;q=0.1") == .png)
        #expect(try format([.png, .webp], "image/jpeg,*/*") == .png)
        #expect(try format([.webp, .png], "image/gif") == .plain)
    }

    @Test(
        arguments: [
            ("image/png, image/jpeg;q=0", .png), ("image/png", .png), ("image/jpeg;q=0", .png),
            ("image/jpeg;q=0, */*", .png), ("image/jpeg, image/png;q=0", .jpeg), ("image/jpeg", .jpeg),
            ("image/png;q=0", .jpeg), ("image/png, image/*;q=0", .png), ("image/jpeg, image/png;q=0.1", .plain),
            ("image/png, */*;q=0.1", .plain), ("image/jpeg;q=0, image/png;q=0", .plain), ("*/*;q=0", .plain),
            ("text/html", .plain), ("", .plain), (nil, .plain),
        ] as [(String?, ThumbnailFormat)])
    func `a format that the field excludes is not used if it accepts another`(
        field: String?, format: ThumbnailFormat
    ) throws {
        #expect(try query("w=10", accept: field).format == format)
    }

    @Test(
        arguments: [
            ("image/*", true), ("*/*", true), ("image/webp, IMAGE/* ;q=0.5", true), ("image/webp,*/*;q=0.8", true),
            ("image/jpeg;q=0,image/*", false), ("image/jpeg;q=0.1,image/*;q=0", true), ("image/*;q=0,*/*", false),
            ("*/*;q=0", false), ("text/*", false), ("image/webp", false), ("", false), (nil, true),
        ] as [(String?, Bool)])
    func `ranges count for the formats that every client supports`(field: String?, isAccepted: Bool) throws {
        let items = try QueryItems("url=https://a.test/p.png&w=10")
        let formats: [ThumbnailFormat] = [.jpeg, .webp]

        let query = try ThumbnailQuery(items, accept: field, maximumSide: 100, negotiated: formats)

        #expect((query.format == .jpeg) == isAccepted)
        #expect(query.isNegotiated)
    }

    @Test func `the formats of the package traits precede WebP by default`() {
        let preferred = ["avif", "jxl", "webp"].compactMap { ThumbnailFormat(rawValue: $0) }

        #expect(ThumbnailFormat.negotiated == preferred)
    }

    @Test func `a format whose encoder could exceed the memory is not negotiated`() throws {
        func format(_ parameters: String) throws -> ThumbnailFormat {
            try ThumbnailQuery(
                QueryItems("url=https://a.test/p.png&\(parameters)"), accept: "image/webp", maximumSide: 2_000,
                negotiated: [.webp], maximumEncodingByteCount: 64 << 20
            ).format
        }
        #expect(try format("w=1000&h=1000") == .webp)
        #expect(try format("w=2000&h=2000") == .plain)
        // A height that is not given can be the maximum.
        #expect(try format("w=1800") == .plain)
        #expect(try format("w=2000&h=2000&format=webp") == .webp)
    }

    @Test func `a named format is not negotiated`() throws {
        let query = try query("w=10&format=jpeg", accept: "image/webp")
        #expect(query.format == .jpeg)
        #expect(!query.isNegotiated)
    }

    @Test func `queries with the same result share one key, and others differ`() throws {
        let key = try query("w=10&h=20").key
        #expect(try query("h=20&w=10&fit=fit&quality=80").key == key)
        #expect(try query("w=10&h=20&format=webp").key == query("h=20&w=10", accept: "image/webp").key)
        #expect(try query("w=10&h=20&format=png&quality=5").key == query("w=10&h=20&format=png").key)
        let filled = try query("w=10&h=20&fit=fill").key
        for same in ["center", "centre", "50,50", "50.0,50"] {
            #expect(try query("w=10&h=20&fit=fill&position=\(same)").key == filled)
        }
        var keys = [filled]
        for (fit, position) in [
            ("fill", "top"), ("fill", "topLeft"), ("fill", "smart"), ("fill", "30,20"), ("fill", "30,21"),
            ("contain", "center"), ("contain", "top"),
        ] {
            keys.append(try query("w=10&h=20&fit=\(fit)&position=\(position)").key)
        }
        #expect(Set(keys).count == keys.count)
        for other in ["w=10&h=21", "w=11&h=20", "w=10&h=20&fit=fill", "w=10&h=20&quality=81", "w=10&h=20&format=jpeg"] {
            #expect(try query(other).key != key)
        }
    }
}
