import AlcedoCodecs
import AlcedoCore
import AlcedoTesting
import FoundationEssentials

/// Compares how the decoders handle an invalid file with the expectation of the manifest.
struct BadCheck {
    struct Outcome {
        /// The decoding error, or nil if the image and each of its frames were decoded.
        var error: ImageDecodingError?
        var frameCount = 0
        var damage: ImageDamage?
        var pixels: PixelBuffer?
    }

    /// The maximum memory for a file that a limit refuses.
    static let memoryLimit = 32 << 20

    /// The maximum time to decode one file three times.
    var timeLimit = Duration.seconds(10)
    private let codecs = CodecRegistry.conformance

    /// Returns the outcome of decoding and a list of problems.
    func run(_ file: Manifest.File, _ data: Data) -> (Outcome, problems: [String]) {
        let start = ContinuousClock.now
        let (outcome, growth) = ResidentMemory.growth { decode(data, DecodingOptions()) }
        let partial = decode(data, DecodingOptions(allowsPartial: true))
        let pieces = decodePieces(data)
        var problems: [String] = []
        if ContinuousClock.now - start > timeLimit { problems.append("took \(ContinuousClock.now - start)") }
        if let error = outcome.error, pieces?.code != error.code {
            problems.append("\(error.code) at once, \(pieces.map { "\($0.code)" } ?? "no error") in pieces")
        }
        if outcome.error == nil, let pieces { problems.append("no error at once, \(pieces.code) in pieces") }
        if let color = file.flatRgba, let pixels = outcome.pixels, !BoxGrid.isFlat(pixels, color) {
            problems.append("a pixel does not have the color \(color)")
        }
        let isRefused = outcome.error != nil
        let hasExceededLimit = outcome.error?.code == .exceedsLimit || outcome.error?.code == .timedOut
        switch file.expect {
        case "must-decode": if isRefused { problems.append("was refused") }
        case "must-reject": if !isRefused { problems.append("was decoded") }
        case "reject-or-partial":
            // A file that lacks no pixel of its first frame is decoded, and its damage is reported.
            if !isRefused, outcome.damage == nil { problems.append("was decoded as a complete file") }
            if partial.error == nil, partial.damage == nil { problems.append("a part is not marked as one") }
        case "must-reject-by-limits-without-allocating":
            if !hasExceededLimit { problems.append("no limit was exceeded") }
            if growth > Self.memoryLimit { problems.append("took \(growth) bytes") }
        case "decode-or-reject-without-expanding":
            if growth > Self.memoryLimit { problems.append("took \(growth) bytes") }
        case "decode-or-limit-error", "policy-limit":
            if isRefused, !hasExceededLimit { problems.append("no limit was exceeded") }
        case "may-decode-as-still-image":
            if !isRefused, outcome.frameCount != 1 { problems.append("was animated") }
        case "must-not-crash-hang-or-exceed-limits": break
        default: problems.append("an unknown expectation: \(file.expect ?? "none")")
        }
        return (outcome, problems)
    }

    private func decode(_ data: Data, _ options: DecodingOptions) -> Outcome {
        var outcome = Outcome()
        do {
            let image = try codecs.decode(data, options: options)
            outcome.damage = image.damage
            outcome.pixels = image.pixels
            outcome.frameCount = image.frames?.frameCount ?? 1
            for index in 0..<(image.frames?.frameCount ?? 0) { _ = try image.frames?.frame(at: index) }
        } catch {
            outcome.error =
                error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "not a decoding error: \(error)")
        }
        return outcome
    }

    private func decodePieces(_ data: Data) -> ImageDecodingError? {
        let decoder = codecs.makeIncrementalDecoder()
        do throws(ImageDecodingError) {
            var rest = data[...]
            while !rest.isEmpty {
                try decoder.append(rest.prefix(997))
                rest = rest.dropFirst(997)
            }
            let image = try decoder.finish()
            for index in 0..<(image.frames?.frameCount ?? 0) { _ = try frame(index, image) }
            return nil
        } catch {
            return error
        }
    }

    private func frame(_ index: Int, _ image: DecodedImage) throws(ImageDecodingError) -> PixelBuffer? {
        do {
            return try image.frames?.frame(at: index)
        } catch {
            throw error as? ImageDecodingError ?? ImageDecodingError(.corrupt, "\(error)")
        }
    }
}
