import Alcedo
import AlcedoHTTP
import AlcedoProgramSupport
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Responses to requests for images.
@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
    private let webp: HTTPFields = ["Accept": "image/unknown,image/webp;q=0.9,*/*"]

    @Test func `a thumbnail is WebP if accepted, otherwise PNG with alpha and JPEG without`() async throws {
        try await TestServer.run { server in
            for (path, fields, type) in [
                ("/opaque.png", [:], "image/jpeg"), ("/clear.png", [:], "image/png"),
                ("/opaque.png", webp, "image/webp"),
                ("/clear.png", webp, "image/webp"),
                ("/pixel.bmp", [:], "image/jpeg"), ("/pixel.ico", [:], "image/png"),
            ] as [(String, HTTPFields, String)] {
                let response = try await server.get(server.target(path), fields)
                #expect(response.status == 200)
                #expect(response.fields["Content-Type"] == type)
                #expect(response.fields["Vary"] == "Accept")
                #expect(response.fields["X-Content-Type-Options"] == "nosniff")
                #expect(response.fields["Content-Length"] == String(response.body.count))
                #expect(CodecRegistry.standard.entry(for: response.body)?.format.rawValue == String(type.dropFirst(6)))
            }
        }
    }

    @Test(arguments: ["jpeg", "png"], [8, 64])
    func `a thumbnail of a gray original is gray`(format: String, side: Int) async throws {
        let gray = try PNGEncoder().encode(.gray(side: 32, level: 90))
        try await TestServer.run(handler: { $0.path == "/gray" ? .ok(gray) : TestServer.images($0) }) { server in
            for (path, isGray) in [("/gray", true), ("/opaque.png", false)] {
                let response = try await server.get(server.target(path, "w=\(side)&format=\(format)"))
                #expect(try CodecRegistry.standard.inspect(response.body).exactFormat.isGray == isGray)
            }
        }
    }

    @Test(arguments: ["jpeg", "png", "webp"])
    func `a named format is used without Vary`(format: String) async throws {
        try await TestServer.run { server in
            let response = try await server.get(server.target("/clear.png", "w=16&format=\(format)"), webp)
            #expect(response.fields["Content-Type"] == "image/\(format)")
            #expect(response.fields["Vary"] == nil)
        }
    }

    #if AVIF
        @Test func `a thumbnail is AVIF if accepted and preferred`() async throws {
            let fields: HTTPFields = ["Accept": "image/webp,image/avif;q=0.9"]
            try await TestServer.run { server in
                for path in ["/opaque.png", "/clear.png"] {
                    let response = try await server.get(server.target(path), fields)
                    #expect(response.fields["Content-Type"] == "image/avif")
                    #expect(CodecRegistry.programs.entry(for: response.body)?.format.rawValue == "avif")
                }
            }
            try await TestServer.run(change: { $0.service.negotiatedFormats = [.webp, .avif] }) { server in
                let response = try await server.get(server.target("/opaque.png"), fields)
                #expect(response.fields["Content-Type"] == "image/webp")
            }
        }
    #endif

    #if JXL
        @Test func `a thumbnail is JPEG XL if accepted and preferred`() async throws {
            let fields: HTTPFields = ["Accept": "image/webp,image/jxl;q=0.9"]
            try await TestServer.run { server in
                for path in ["/opaque.png", "/clear.png"] {
                    let response = try await server.get(server.target(path), fields)
                    #expect(response.fields["Content-Type"] == "image/jxl")
                    #expect(CodecRegistry.programs.entry(for: response.body)?.format.rawValue == "jxl")
                }
            }
            try await TestServer.run(change: { $0.service.negotiatedFormats = [.webp, .jxl] }) { server in
                let response = try await server.get(server.target("/opaque.png"), fields)
                #expect(response.fields["Content-Type"] == "image/webp")
            }
        }
    #endif

    @Test func `the thumbnail has the requested size`() async throws {
        try await TestServer.run { server in
            for (parameters, width, height) in [
                ("w=32", 32, 24), ("h=12", 16, 12), ("w=32&h=12", 16, 12), ("w=1000&h=1000", 64, 48),
                ("w=20&h=20&fit=fill", 20, 20), ("w=30&h=10&fit=exact", 30, 10), ("w=100&h=90&fit=fill", 100, 90),
                ("w=100&h=90&fit=contain", 100, 90), ("w=20&h=20&fit=contain&position=top", 20, 20),
                ("w=20&h=20&fit=fill&position=smart", 20, 20), ("w=20&h=20&fit=fill&position=30,20", 20, 20),
            ] {
                let image = try await server.image(server.target("/opaque.png", parameters))
                #expect(image.size == PixelSize(width: width, height: height), "\(parameters)")
            }
        }
    }

    @Test func `the colors of an original are converted to sRGB`() async throws {
        var wide = DecodedImage.coordinates(PixelSize(width: 64, height: 48))
        wide.colorProfile = OutputColorSpace.displayP3.colorProfile
        let file = try PNGEncoder().encode(wide)
        func samples(_ image: DecodedImage) -> [[UInt8]] {
            (0..<image.pixels.height).map { y in image.pixels.row(y).withUnsafeBytes { Array($0.prefix(4 * 64)) } }
        }
        let expected = samples(try LittleCMSColorConverter().converted(wide))
        try await TestServer.run(handler: { _ in .ok(file, type: "image/png") }) { server in
            let image = try await server.image(server.target("/wide.png", "w=64&format=png"))
            #expect(image.colorProfile == nil)
            #expect(samples(image) == expected)
        }
    }

    @Test func `HEAD has the header fields of GET and no body`() async throws {
        try await TestServer.run { server in
            let target = server.target("/opaque.png")
            let get = try await server.get(target)
            let head = try await server.get(target, method: .head)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            for name in ["Content-Type", "Content-Length", "ETag", "Vary"] {
                #expect(head.fields[name] == get.fields[name])
            }
        }
    }

    @Test func `a request with a current copy receives 304`() async throws {
        try await TestServer.run { server in
            let target = server.target("/opaque.png")
            let first = try await server.get(target)
            let tag = try #require(first.fields["ETag"])
            #expect(tag.hasPrefix("\""))
            #expect(tag.utf8.count == 34)
            for list in [tag, "W/\(tag)", "\"a\", \(tag)", "*"] {
                let response = try await server.get(target, ["If-None-Match": list])
                #expect(response.status == 304)
                #expect(response.body.isEmpty)
                #expect(response.fields["ETag"] == tag)
                #expect(response.fields["Vary"] == "Accept")
                #expect(response.fields["Content-Type"] == nil)
                // If there is a length, it is that of the image. RFC 9110 section 8.6.
                #expect(response.fields["Content-Length"] == first.fields["Content-Length"])
            }
            for list in ["\"other\"", "\"x,*,y\"", "\"x,\(tag.dropFirst().dropLast()),y\""] {
                #expect(try await server.get(target, ["If-None-Match": list]).status == 200)
            }
            // Another representation has another tag.
            let other = try await server.get(target, webp.adding("If-None-Match", tag))
            #expect(other.status == 200)
            #expect(other.fields["ETag"] != tag)
        }
    }

    @Test func `a response is stored as long as the origin allows`() async throws {
        try await TestServer.run { server in
            let short = try await server.get(server.target("/kept/max-age=60"))
            let seconds = short.fields["Cache-Control"].flatMap { Int($0.dropFirst("max-age=".count)) }
            #expect((1...60).contains(seconds ?? 0))
            #expect(try await server.get(server.target("/kept/no-cache")).fields["Cache-Control"] == "no-cache")
            for _ in 0..<2 {
                let response = try await server.get(server.target("/kept/no-store"))
                #expect(response.status == 200)
                #expect(response.fields["Cache-Control"] == "no-store")
            }
            #expect(server.origin.requestCount(for: "/kept/no-store") == 2)
            _ = try await server.get(server.target("/kept/max-age=60"))
            #expect(server.origin.requestCount(for: "/kept/max-age=60") == 1)
            let long = try await server.get(server.target("/kept/max-age=999999"))
            let limit = long.fields["Cache-Control"].flatMap { Int($0.dropFirst("max-age=".count)) }
            #expect((3000...3600).contains(limit ?? 0))
        }
    }

    @Test func `clients and shared caches each receive the lifetime that the origin allows`() async throws {
        try await TestServer.run { server in
            let target = server.target("/kept/max-age=0,s-maxage=600")
            for _ in 0..<2 {
                let control = try #require(try await server.get(target).fields["Cache-Control"])
                #expect(control.hasPrefix("max-age=0, s-maxage="))
                #expect((1...600).contains(Int(control.dropFirst("max-age=0, s-maxage=".count)) ?? 0))
            }
            #expect(server.origin.requests.count == 1)
        }
    }

    @Test func `a response is not stored when a redirect forbids it`() async throws {
        try await TestServer.run { server in
            for _ in 0..<2 {
                let response = try await server.get(server.target("/moved"))
                #expect(response.status == 200)
                #expect(response.fields["Cache-Control"] == "no-store")
            }
            #expect(server.origin.requestCount(for: "/moved") == 2)
            // The record of it is for this server alone.
            #expect(server.origin.requests.allSatisfy { !$0.fields.contains { $0.name.hasPrefix("X-") } })
        }
    }

    @Test func `concurrent equal requests cause one request to the origin`() async throws {
        try await TestServer.run(handler: { _ in .ok(TestServer.opaque).stalling(at: .beforeHead) }) { server in
            let responses = try await withThrowingTaskGroup(of: TestServer.Response.self) { group in
                for _ in 0..<8 { group.addTask { try await server.get(server.target("/a")) } }
                try await server.wait(for: "thumbnail_requests_in_flight", toBe: 8)
                try await server.origin.waitForStalls()
                server.origin.release()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(responses.map(\.body)).count == 1)
            #expect(responses.allSatisfy { $0.status == 200 })
            #expect(server.origin.requests.count == 1)
        }
    }

    @Test func `the next server finds thumbnails on disk, and originals serve other sizes`() async throws {
        let directory = try TemporaryDirectory()
        let origin = try LoopbackOrigin { _ in OriginReply.ok(TestServer.opaque).setting("Cache-Control", "max-age=600")
        }
        defer { origin.stop() }
        let target = "/thumbnail?url=\(QueryItems.encoded(origin.url(for: "/a").absoluteString))"
        var tags: [String?] = []
        for round in 0..<2 {
            try await TestServer.run(change: { $0.cacheDirectory = directory.url }) { server in
                tags.append(try await server.get("\(target)&w=10").fields["ETag"])
                _ = try await server.get("\(target)&w=\(20 + round)")
                let stored = try await server.number("thumbnail_responses_total{source=\"store\"}")
                #expect(stored == Double(round))
            }
        }
        #expect(tags[0] != nil)
        #expect(tags[0] == tags[1])
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [0, 60])
    func `an immutable original is validated when it exceeds the maximum age`(
        maximumAge: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        try await TestServer.run(change: {
            $0.cacheDirectory = directory.url
            $0.limits.maximumAge = .seconds(maximumAge)
        }) { _ in
            OriginReply.ok(TestServer.opaque).setting("Cache-Control", "max-age=86400, immutable").setting("Age", "61")
        } _: { (server: TestServer) async throws in
            for width in [10, 11] { #expect(try await server.get(server.target("/a", "w=\(width)")).status == 200) }
            #expect(server.origin.requests.count == 2)
        }
    }

    @Test func `an image behind a redirect is served only where the redirect's target is allowed`() async throws {
        let directory = try TemporaryDirectory()
        let other = try LoopbackOrigin(handler: TestServer.images)
        defer { other.stop() }
        let origin = try LoopbackOrigin { _ in
            OriginReply.redirect(to: other.url(for: "/opaque.png").absoluteString)
                .setting("Cache-Control", "max-age=60")
        }
        defer { origin.stop() }
        let target = "/thumbnail?url=\(QueryItems.encoded(origin.url(for: "/").absoluteString))&w=10"
        let near = try #require(OriginPattern("127.0.0.1:\(origin.port)"))
        let far = try #require(OriginPattern("http://127.0.0.1:\(other.port)/"))
        for (patterns, status, layer) in [
            ([], 200, "generated"), ([near], 403, "generated"), ([near, far], 200, "generated"),
            ([far, near, far], 200, "store"),
        ] {
            try await TestServer.run(change: {
                $0.cacheDirectory = directory.url
                $0.service.allowed.patterns = patterns
            }) { (server: TestServer) async throws in
                #expect(try await server.get(target).status == status)
                let count = try await server.number("thumbnail_responses_total{source=\"\(layer)\"}")
                #expect(count == (status == 200 ? 1 : 0))
            }
        }
    }
}

extension HTTPFields {
    fileprivate func adding(_ name: String, _ value: String) -> HTTPFields {
        var fields = self
        fields.append(name, value)
        return fields
    }
}
