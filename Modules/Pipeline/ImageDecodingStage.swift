import AlcedoCore
import FoundationEssentials

/// Turns bytes into the finished image, on threads of its own and within a budget of bytes.
struct ImageDecodingStage: Sendable {
    /// What came of trying without waiting for bytes.
    private enum Attempt: Sendable {
        case image(DecodedImage)
        /// There are not so many bytes left.
        case needs(byteCount: Int)
    }

    private let codecs: CodecRegistry
    private let executor: BlockingExecutor
    private let budget: ByteBudget
    private let report: Reporter

    /// - Parameters:
    ///   - width: Threads.
    ///   - byteBudget: Most bytes that decoding holds at once.
    init(codecs: CodecRegistry, width: Int, byteBudget: Int, report: Reporter) {
        self.codecs = codecs
        executor = BlockingExecutor(name: "alcedo.decode", width: width)
        budget = ByteBudget(limit: byteBudget)
        self.report = report
    }

    /// Decodes and processes. Throws ``PipelineError``, or `CancellationError`.
    func image(of data: Data, _ request: ImageRequest, key: ImageKey) async throws -> DecodedImage {
        // Most images need not wait for bytes, and go through in one piece of work.
        let attempt = try await executor.run(priority: request.priority) {
            let byteCount = byteCount(of: data, request.decoding)
            let image = try budget.withReservationNow(of: byteCount, priority: request.priority) {
                try decode(data, request, key: key)
            }
            return image.map { .image($0) } ?? Attempt.needs(byteCount: byteCount)
        }
        switch attempt {
        case .image(let image): return image
        case .needs(let byteCount):
            return try await budget.withReservation(of: byteCount, priority: request.priority) {
                try await executor.run(priority: request.priority) { try decode(data, request, key: key) }
            }
        }
    }

    /// What decoding will hold. The decoder has the last word on bytes that cannot be inspected: there may be a part to
    /// show, or a first frame; until then they count as the largest image that the limits allow.
    private func byteCount(of data: Data, _ options: DecodingOptions) -> Int {
        do throws(ImageDecodingError) {
            return try codecs.decodingByteCount(data, options: options)
        } catch {
            return switch error.code {
            case .empty, .unknownFormat: 0
            case .truncated, .corrupt, .unsupportedVariant, .exceedsLimit, .outOfMemory:
                options.limits.maximumByteCount
            }
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
