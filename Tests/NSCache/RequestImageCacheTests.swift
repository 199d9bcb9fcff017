import AlcedoCore
import AlcedoHTTP
import AlcedoNSCache
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite struct RequestImageCacheTests {
    private let backend = NSCacheBackend(costLimit: 10_000)
    private let key = ImageKey(ResourceKey("picture"))

    private var cache: RequestImageCache { RequestImageCache(backend) }

    private func request(
        _ policy: CachePolicy = .all, decoding: DecodingOptions = DecodingOptions(), identifier: String? = nil
    ) -> ImageRequest {
        ImageRequest(
            source: .dataURL("data:,"), decoding: decoding, cachePolicy: policy, resource: key.resource,
            additionalIdentifier: identifier)
    }

    @Test(arguments: [
        (CachePolicy.all, true),
        (.cacheOnly, true),
        (.reload, false),
        (CachePolicy(.reloadIgnoringLocalAndRemoteCacheData), false),
        (CachePolicy(memory: .all, protocolPolicy: .reloadIgnoringLocalCacheData), false),
        (.revalidate, true),
        (CachePolicy(.returnCacheDataElseLoad), true),
        (CachePolicy(memory: .none, protocolPolicy: .reloadRevalidatingCacheData), false),
        (.none, false),
        (CachePolicy(memory: .read), true),
        (CachePolicy(memory: .write), false),
        (CachePolicy(memory: .none), false),
        (CachePolicy(disk: .none, response: .none), true),
        (CachePolicy(disk: .write, response: .write), true),
        (CachePolicy(memory: .read, disk: .none, response: .none, allowsNetwork: false), true),
    ])
    func `both reload policies and policies without memory access read nothing`(
        policy: CachePolicy, reads: Bool
    ) {
        backend.store(.gray(side: 1, level: 7), for: key)
        #expect((cache.cachedImage(for: request(policy)) != nil) == reads)
        #expect(backend.image(for: key) != nil, "reading took it away")
    }

    @Test(arguments: HTTPCachePolicy.allCases)
    func `the policy of the source's own request applies when the request has none`(policy: HTTPCachePolicy) throws {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        let request = ImageRequest(source: .http(HTTPRequest(url: url, cachePolicy: policy)))
        cache.cacheImage(.gray(side: 1), for: request)
        let reads = ![.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData].contains(policy)
        #expect((cache.cachedImage(for: request) != nil) == reads)
    }

    @Test(arguments: [
        (CachePolicy.all, true),
        (.cacheOnly, true),
        (.reload, true),
        (.none, false),
        (CachePolicy(memory: .write, disk: .none, response: .none), true),
        (CachePolicy(memory: .read), false),
    ])
    func `a policy that writes memory stores, also on reload`(policy: CachePolicy, writes: Bool) {
        cache.cacheImage(.gray(side: 1, level: 7), for: request(policy))
        #expect((backend.image(for: key)?.level == 7) == writes)
    }

    @Test func `a reload replaces the image for other requests`() {
        cache.cacheImage(.gray(side: 1, level: 1), for: request())
        cache.cacheImage(.gray(side: 1, level: 2), for: request(.reload))
        #expect(cache.cachedImage(for: request())?.level == 2)
        #expect(cache.cachedImage(for: request(.reload)) == nil)
    }

    @Test func `requests for one source share the original, whatever their processors`() {
        let small = request(decoding: DecodingOptions(target: TargetSize(width: 4, height: 4)))
        cache.cacheImage(.gray(side: 1, level: 3), for: small)
        #expect(cache.cachedImage(for: request())?.level == 3)
        #expect(cache.cachedImage(for: request(identifier: "other")) == nil)
        #expect(backend.image(for: small.key) == nil)
        #expect(backend.image(for: small.originalKey) != nil)
    }

    @Test func `a request with a modifier is looked up and stored only if an identifier names what it selects`() throws
    {
        let url = try #require(URL(string: "http://127.0.0.1/a"))
        var request = ImageRequest(url: url)
        cache.cacheImage(.gray(side: 1, level: 1), for: request)
        request.modifyRequest = { $0.fields["Authorization"] = "me" }
        #expect(cache.cachedImage(for: request) == nil)
        cache.cacheImage(.gray(side: 1, level: 2), for: request)
        #expect(cache.cachedImage(for: ImageRequest(url: url))?.level == 1)

        request.additionalIdentifier = "account"
        cache.cacheImage(.gray(side: 1, level: 3), for: request)
        #expect(cache.cachedImage(for: request)?.level == 3)
    }

    @Test func `an empty cache finds nothing`() {
        #expect(cache.cachedImage(for: request()) == nil)
    }

    @Test func `a copy sees the same images`() {
        let copy = cache
        copy.cacheImage(.gray(side: 1, level: 9), for: request())
        #expect(cache.cachedImage(for: request())?.level == 9)
    }
}
