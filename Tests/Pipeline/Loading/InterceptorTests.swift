import AlcedoCore
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct InterceptorTests {
    private struct Closure: ImageLoadInterceptor {
        var body:
            @Sendable (ImageRequest, @Sendable (ImageRequest) async throws -> ImageResponse) async throws ->
                ImageResponse

        func load(
            _ request: ImageRequest, next: @Sendable (ImageRequest) async throws -> ImageResponse
        ) async throws -> ImageResponse {
            try await body(request, next)
        }
    }

    private func pipeline(_ downloader: FakeDownloader, _ interceptors: [Closure]) -> ImagePipeline {
        ImagePipeline(
            ImagePipeline.Configuration(
                downloader: downloader, codecs: FakeCodec().registry, memoryCache: DictionaryMemoryCache(),
                interceptors: interceptors))
    }

    @Test func `the first interceptor is outermost, and each may change request and result`() async throws {
        let order = Watched<[String]>([])
        func step(_ name: String, _ step: UInt8) -> Closure {
            Closure { request, next in
                order.update { $0.append("\(name) in") }
                var changed = request
                changed.processors.append(Brighten(step: step))
                let response = try await next(changed)
                order.update { $0.append("\(name) out") }
                return response
            }
        }
        let pipeline = pipeline(FakeDownloader(giving: level(7)), [step("a", 1), step("b", 2)])
        #expect(try await pipeline.load(try web("a")).image.level == 10)
        #expect(order.value == ["a in", "b in", "b out", "a out"])
        #expect(pipeline.cachedImage(for: try web("a")) == nil)
        #expect(try await pipeline.load(try web("a")).layer == .memory)
    }

    @Test func `an interceptor is called once for a request and its alternative sources`() async throws {
        struct Missing: Error {}
        let calls = Watched(0)
        let counting = Closure { request, next in
            calls.update { $0 += 1 }
            return try await next(request)
        }
        let downloader = FakeDownloader { request, _ in
            guard case .bytes(let data, _) = request.source else { throw Missing() }
            return Download(data: data)
        }
        let request = try web("a") { $0.alternativeSources = [.bytes(level(7), identity: "b")] }
        #expect(try await pipeline(downloader, [counting]).load(request).image.level == 7)
        #expect(calls.value == 1)
    }

    @Test func `an interceptor can retry and can return its own result`() async throws {
        struct Broken: Error {}
        let tries = Watched(0)
        let downloader = FakeDownloader { _, _ in
            let number = tries.update { count -> Int in
                count += 1
                return count
            }
            if number < 3 { throw Broken() }
            return Download(data: level(7))
        }
        let again = Closure { request, next in
            for _ in 0..<5 {
                do {
                    return try await next(request)
                } catch is PipelineError {
                    continue
                }
            }
            throw Broken()
        }
        #expect(try await pipeline(downloader, [again]).load(try web("a")).image.level == 7)
        #expect(tries.value == 3)

        let fake = Closure { _, _ in ImageResponse(image: .gray(side: 1, level: 99), layer: .local) }
        let quiet = FakeDownloader(giving: level(1))
        #expect(try await pipeline(quiet, [fake]).load(try web("a")).image.level == 99)
        #expect(quiet.count == 0)
    }
}
