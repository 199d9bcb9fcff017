import AlcedoCore
import FoundationEssentials

/// Turns bytes into the finished image.
struct ImageDecodingStage: Sendable {
    private let codecs: CodecRegistry
    private let threads: DecodingThreads
    private let report: Reporter

    init(codecs: CodecRegistry, threads: DecodingThreads, report: Reporter) {
        self.codecs = codecs
        self.threads = threads
        self.report = report
    }

    /// Decodes and processes. Throws ``PipelineError``, or `CancellationError`.
    func image(of data: Data, _ request: ImageRequest, key: ImageKey) async throws -> DecodedImage {
        try await threads.decode(data, options: request.decoding, priority: request.priority) {
            try decode(data, request, key: key)
        }
    }

    private func decode(_ data: Data, _ request: ImageRequest, key: ImageKey) throws -> DecodedImage {
        var image: DecodedImage
        do throws(ImageDecodingError) {
            let start = report.now
            image = try codecs.decode(data, options: request.decoding)
            report(key, .decoded(image.size), since: start)
        } catch {
            throw PipelineError(.decoding(error.code), error.message, cause: error)
        }
        let damage = image.damage
        for processor in request.processors {
            do throws(ImageProcessingError) {
                let start = report.now
                image = try processor.process(image)
                report(key, .processed(identifier: processor.identifier), since: start)
            } catch {
                throw PipelineError(.processing, error.message, cause: error)
            }
            // Whatever a processor makes of it: frames would not match its pixels, and a part stays a part.
            image.frames = nil
            image.damage = image.damage ?? damage
        }
        return image
    }
}
