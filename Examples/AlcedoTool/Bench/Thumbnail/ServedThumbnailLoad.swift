import Alcedo
import AlcedoTesting
import ExampleSupport
import Foundation

/// What the process does that loads from a server: everything cold, by a new pipeline from disk, and from memory.
struct ServedThumbnailLoad {
    /// Loads at once.
    static let width = 16

    /// What a name is put behind.
    let base: String
    let cacheDirectory: URL

    /// Reads a line of names, and writes images a second of each, and resident bytes at most after the first.
    func run() async throws {
        let names = (Swift.readLine() ?? "").split(separator: " ")
        let requests = names.compactMap { URL(string: base + $0) }.map { url in
            PipelineThumbnails.request(.http(HTTPRequest(url: url)))
        }
        let first = pipeline
        let cold = try await rate(requests, first)
        let resident = ResidentMemory.peakByteCount
        await first.shutDown()
        let second = pipeline
        let fromDisk = try await rate(requests, second)
        let fromMemory = try await rate(requests, second)
        await second.shutDown()
        Console.output("\(cold) \(fromDisk) \(fromMemory) \(resident)\n")
    }

    /// The default stack, with room for all thumbnails.
    private var pipeline: ImagePipeline {
        ImagePipeline(.standard(cacheDirectory: cacheDirectory, memoryLimit: 768 << 20, diskLimit: 1 << 30))
    }

    private func rate(_ requests: [ImageRequest], _ pipeline: ImagePipeline) async throws -> Double {
        let time = try await ThumbnailTime.of {
            try await pipeline.loadAll(requests, width: Self.width) { _, result in _ = try result.get() }
        }
        return Double(requests.count) / time.wall * 1_000
    }
}
