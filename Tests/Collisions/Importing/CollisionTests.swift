import Alcedo
import Crypto
import FoundationEssentials
import HTTPTypes
import SwiftCrossUI
import Testing

/// Types of other packages are used unqualified beside `import Alcedo`. The modules with these names in this directory
/// are substitutes for the packages and for a UI toolkit.
@Suite struct CollisionTests {
    @Test func `HTTP message names refer to the types of swift-http-types`() {
        var request = HTTPRequest(path: "/a")
        request.headerFields.all.append(HTTPField(name: "Accept", value: "image/webp"))
        let fields: HTTPFields = request.headerFields
        #expect(fields.all.count == 1)
        #expect(HTTPResponse(code: 404).code == 404)
    }

    @Test func `hash names refer to the types of swift-crypto`() {
        #expect(SHA256.hash(data: Data([1, 2, 3])).count == 3)
        #expect(SymmetricKey(bitCount: 256).bitCount == 256)
        _ = Insecure.MD5()
    }

    @Test func `view names refer to the types of the UI toolkit`() {
        let views: [any View] = [
            Text("a"), Image("a"), Color.red, Circle(radius: 3), Overlay(), Blur(), Border(), Rotate(),
        ]
        _ = Anchor()
        #expect(views.count == 8)
        #expect(ContentMode.stretch == .stretch)
        #expect(Orientation.vertical == .vertical)
    }

    @Test func `the members of a response and of a request need no further import`() async throws {
        let pipeline = ImagePipeline.standard(cacheDirectory: nil)
        var request = ImageRequest(source: .image(try made(), identity: "made"), processors: [.circle()])
        request.modifyRequest = { $0.fields["Accept"] = "image/webp" }
        request.cachePolicy = CachePolicy(HTTPCachePolicy.reloadRevalidatingCacheData)
        let response = try await pipeline.load(request)
        let metrics: HTTPTransferMetrics? = response.metrics

        #expect(response.image.size == PixelSize(width: 2, height: 2))
        #expect(metrics == nil)
        #expect(response.httpResponse?.status == nil)
        #expect(response.httpResponse?.fields["Content-Type"] == nil)
    }

    private func made() throws -> DecodedImage {
        DecodedImage(
            pixels: try #require(PixelBuffer(size: PixelSize(width: 2, height: 2), format: .rgba8, alphaMode: .opaque)))
    }
}
