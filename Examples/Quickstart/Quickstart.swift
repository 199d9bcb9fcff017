import Alcedo
import AlcedoTesting
import Foundation

/// A program that loads URLs, by default those of its samples, twice and prints the layer of each response.
@main enum Quickstart {
    static func main() async throws {
        let names = CommandLine.arguments.dropFirst()
        if let option = names.first(where: { $0.hasPrefix("-") }) { end(2, "unknown option '\(option)'") }
        let samples = Bundle.module.bundleURL.appending(path: "Pictures")
        let origin = try LoopbackOrigin(directory: samples)
        let files = names.isEmpty ? try FileManager.default.contentsOfDirectory(atPath: samples.path).sorted() : []
        let urls = files.map { origin.url(for: "/\($0)") } + names.compactMap { URL(string: $0) }
        let pipeline = ImagePipeline.standard()
        for url in urls + urls {
            var request = ImageRequest(url: url)
            // The origin's port changes from run to run; the name of a sample does not.
            if names.isEmpty { request.resource = ResourceKey("sample:\(url.lastPathComponent)") }
            do {
                let response = try await pipeline.load(request)
                print("\(response.layer)  \(response.image.size)  \(url.lastPathComponent)")
            } catch { end(1, "\(error)") }
        }
        await pipeline.flush()
    }
    private static func end(_ status: Int32, _ problem: String) -> Never {
        FileHandle.standardError.write(Data("quickstart: \(problem)\n".utf8))
        exit(status)
    }
}
