import Alcedo
import AlcedoProgramSupport
import Foundation
import TestSupport
import Testing

@testable import AlcedoTool

@Suite(.spawnsProcesses, .timeLimit(.minutes(5))) struct ProblemTextTests {
    @Test(arguments: [
        ("DecodingLimits.maximumPixelCount", "--max-pixels"), ("DecodingLimits.maximumByteCount", "--max-decoded"),
        ("DecodingLimits.maximumFrameCount", "--max-frames"),
        ("DecodingLimits.maximumTotalPixelCount", "--max-total-pixels"),
        ("SandboxConfiguration.maximumOutputByteCount", "--max-decoded"),
        ("maximumDecodingByteCount", "--max-decoded"), ("ImageConverter.maximumEncodingByteCount", "--max-decoded"),
    ])
    func `a message names the option instead of the property`(property: String, option: String) {
        #expect(ProblemText.text("the limit is 5 (\(property))", isLimit: true) == "the limit is 5 (\(option))")
    }

    @Test(arguments: [
        (
            "cannot store the image: no registered codec can encode it; add one to the CodecRegistry",
            "cannot store the image: this build of alcedo cannot encode it"
        ),
        ("a worker cannot have workers; call SandboxWorker.runIfRequested", "a worker cannot have workers"),
        ("a worker ended. Call SandboxWorker.runIfRequested first in main.", "a worker ended."),
    ])
    func `a message has no advice for developers`(message: String, text: String) {
        #expect(ProblemText.text(message) == text)
    }

    @Test func `a message says when no option raises a limit`() {
        #expect(ProblemText.text("too many", isLimit: true) == "too many (no option raises this limit)")
        #expect(ProblemText.text("too many") == "too many")
        let image = ImageArgument(name: "a", request: ImageRequest(source: .bytes(Data(), identity: "a")))
        #expect(
            image.problem(ImageDecodingError(.exceedsLimit, "SVG: more than 5 elements"))
                == "SVG: more than 5 elements (no option raises this limit)")
        #expect(image.problem(ImageDecodingError(.corrupt, "damaged")) == "damaged")
    }

    /// The options that limit an image in the messages of its decoder. Each error is one of `DecodingLimits`.
    @Test func `every limit of decoders has an option`() {
        let limits = DecodingLimits(
            maximumPixelCount: 10, maximumByteCount: 10, maximumFrameCount: 1, maximumTotalPixelCount: 1)
        let size = PixelSize(width: 9, height: 1)
        func text(_ check: () throws -> Void) -> String {
            do {
                try check()
                return "no error"
            } catch {
                return ProblemText.text("\(error)", isLimit: true)
            }
        }
        let large = PixelSize(width: 11, height: 1)
        #expect(text { try limits.check(large, format: .rgba8) }.hasSuffix("(--max-pixels)"))
        #expect(text { try limits.check(size, format: .rgba8) }.hasSuffix("(--max-decoded)"))
        #expect(text { try limits.check(frameCount: 2) }.hasSuffix("(--max-frames)"))
        #expect(text { try limits.check(frameCount: 2, of: size) }.hasSuffix("(--max-total-pixels)"))
    }

    #if SVG
        @Test(arguments: [
            ("", "width='20000' height='20000'", "--max-pixels"),
            (String(repeating: "<g>", count: 300), "", "no option raises this limit"),
            ("<feConvolveMatrix order='30'/>", "", "no option raises this limit"),
        ])
        func `the tool says how to raise a limit of SVG`(
            content: String, attributes: String, advice: String
        ) async throws {
            let directory = try TemporaryDirectory()
            let alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.url.path])
            let file = directory.url.appending(path: "a.svg")
            let root = "<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>"
            let end = String(repeating: "</g>", count: content.components(separatedBy: "<g>").count - 1)
            try Data("\(root)\(content)\(end)</svg>".utf8).write(to: file)
            let output = directory.url.appending(path: "out").path

            for options in [[], ["--no-sandbox"]] {
                let outcome = try await alcedo.run(
                    ["convert", file.path, "--format", "png", "--output", output] + options)

                #expect(outcome.status == 1, "\(outcome.problems)")
                #expect(outcome.problems.contains(advice))
                #expect(!outcome.problems.contains("DecodingLimits"), "\(outcome.problems)")
            }
        }
    #endif
}
