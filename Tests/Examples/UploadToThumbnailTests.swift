import Alcedo
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct UploadToThumbnailTests {
    private let directory: TemporaryDirectory
    private let output: URL

    init() throws {
        directory = try TemporaryDirectory()
        output = directory.url.appending(path: "small.webp")
    }

    @Test func `an upload on standard input becomes a small WebP with rounded corners`() async throws {
        let outcome = try await Program(name: "upload-to-thumbnail")
            .run(["-", output.path], input: SampleImages.data("dunes.jpg"))

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
        #expect(outcome.output.contains("in:  jpeg, 1200 x 800\n"))
        let data = try Data(contentsOf: output)
        // A BlurHash with 4 x 3 components.
        let line = try #require(outcome.output.split(separator: "\n").last)
        #expect(line.hasPrefix("out: webp, 320 x 213, BlurHash "))
        #expect(line.split(separator: " ").last?.count == 28)
        let image = try CodecRegistry.standard.decode(data)
        #expect(image.format == .webp)
        #expect(image.size == PixelSize(width: 320, height: 213))
        let alpha = image.pixels.withUnsafeBytes { (corner: $0[3], center: $0[100 * image.pixels.bytesPerRow + 643]) }
        #expect(alpha.corner == 0)
        #expect(alpha.center == 255)
    }

    @Test func `an upload of more than 32 MiB is an error, and nothing is written`() async throws {
        let upload = try SampleImages.data("dunes.jpg") + Data(count: 32 << 20)
        let outcome = try await Program(name: "upload-to-thumbnail").run(["-", output.path], input: upload)

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("\(32 << 20) bytes"))
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test func `a rotated photo becomes upright`() async throws {
        let file = SampleImages.directory.appending(path: "turned.jpg")
        let info = try CodecRegistry.standard.inspect(Data(contentsOf: file))
        #expect(info.orientation != .up)

        let outcome = try await Program(name: "upload-to-thumbnail").run([file.path, output.path])

        #expect(outcome.status == 0)
        let small = try CodecRegistry.standard.inspect(Data(contentsOf: output))
        #expect(small.orientation == .up)
        #expect(
            small.size == info.uprightSize.scaled(to: PixelSize(width: 320, height: 320), mode: .fit, enlarging: false))
    }

    @Test func `bytes that are not an image are an error, and nothing is written`() async throws {
        let outcome = try await Program(name: "upload-to-thumbnail")
            .run(["-", output.path], input: Data("<html>".utf8))

        #expect(outcome.status == 1)
        #expect(outcome.problems.hasPrefix("upload-to-thumbnail: "))
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test func `an unknown option is explained`() async throws {
        let outcome = try await Program(name: "upload-to-thumbnail").run(["--nonsense"])
        #expect(outcome.status == 2)
        #expect(outcome.problems.contains("usage: "))
    }
}
