import Alcedo
import AlcedoTesting
import Foundation

/// A program that runs the conformance kits on two custom caches, then loads an image through a pipeline that uses
/// them.
@main
enum CustomBackend {
    static func main() async throws {
        await prove("memory cache", MemoryCacheConformance.checks) {
            FirstInFirstOutMemoryCache(costLimit: $0.byteLimit)
        }
        await prove("data cache", DataCacheConformance.checks) { FirstInFirstOutDataCache(sizeLimit: $0.byteLimit) }

        let image = try ImageEncoder.jpeg().encode(.coordinates(PixelSize(width: 240, height: 240)))
        let origin = try LoopbackOrigin { _ in .ok(image, type: "image/jpeg") }
        let memory = FirstInFirstOutMemoryCache(costLimit: 16 << 20)
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = memory
        configuration.diskCache = FirstInFirstOutDataCache(sizeLimit: 16 << 20)
        let pipeline = ImagePipeline(configuration)
        let url = origin.url(for: "/picture.jpg")

        print("first load: \(try await pipeline.load(url).layer)")
        print("again: \(try await pipeline.load(url).layer)")
        await pipeline.flush()
        memory.removeAll()
        print("without the memory cache: \(try await pipeline.load(url).layer)")
    }

    /// Runs every check of a kit. Ends the process when one fails.
    private static func prove<Backend>(
        _ name: String, _ checks: [ConformanceCheck<Backend>],
        _ make: @Sendable (ConformanceOptions) throws -> Backend
    ) async {
        for check in checks {
            do {
                try await check(make)
            } catch {
                FileHandle.standardError.write(Data("custom-backend: \(name): \(check): \(error)\n".utf8))
                exit(1)
            }
        }
        print("\(name): all \(checks.count) checks passed")
    }
}
