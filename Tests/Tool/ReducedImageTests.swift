import Alcedo
import Foundation
import TestSupport
import Testing

/// The smaller images that commands write, compared with the whole image reduced by Lanczos.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct ReducedImageTests {
    private let directory: TemporaryDirectory
    private let alcedo: Program

    init() throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
    }

    @Test(arguments: ["thumbnail", "convert", "load", "contact-sheet"])
    func `a smaller image has the quality of the whole image`(command: String) async throws {
        let size = PixelSize(width: 100, height: 100)
        for drawing in [DrawnImage.text, .photo] {
            let image = try #require(drawing.image())
            // The JPEG is decoded at a reduced size, the PNG at its full size.
            for (encoder, minimum) in [
                (ImageEncoder.jpeg(quality: 90), 44.0), (ImageEncoder.png(compressionLevel: 1), 54.0),
            ] {
                let name = "\(drawing)-\(encoder.format.rawValue)"
                let file = directory.url.appending(path: "\(name).in")
                let output = directory.url.appending(path: name)
                let data = try encoder.encode(image)
                try data.write(to: file)
                let result = output.appending(path: command == "load" ? "1-\(name).in.png" : "\(name).png")
                let options =
                    switch command {
                    case "thumbnail": ["--size", "100", "--format", "png", "--output", output.path]
                    case "convert": ["--processor", "resize:100x100", "--format", "png", "--output", output.path]
                    case "load": ["--size", "100", "--output", output.path]
                    default: ["--cell", "100", "--output", result.path]
                    }
                let ideal = try ImageProcessors.Resize(to: size).process(try CodecRegistry.standard.decode(data)).pixels

                let outcome = try await alcedo.run([command, file.path] + options)

                #expect(outcome.status == 0)
                #expect(outcome.problems == "")
                var made = try CodecRegistry.standard.decode(Data(contentsOf: result))
                if command == "contact-sheet" {
                    // The image is in the middle of a cell of 100 pixels, which has a border of 12.
                    made = try ImageProcessors.Crop(PixelRect(x: 12, y: 58, width: 100, height: 8)).process(made)
                }
                try #require(made.size == ideal.size)
                let ratio = ImageDifference(made.pixels, ideal).ratio
                #expect(ratio >= minimum, "\(name): \(ratio) dB")
            }
        }
    }
}
