public import AlcedoCore
import FoundationEssentials

/// Passes one input through all functions of a decoder, and traps if two that must agree do not. The fuzzer and its
/// sanitizer find reads outside buffers, leaks, hangs and traps in the decoders.
public struct DecoderFuzz {
    private static var limits: DecodingLimits {
        // Small, so that an input costs a fraction of a second.
        DecodingLimits(
            maximumPixelCount: 1 << 18, maximumByteCount: 8 << 20, maximumMetadataByteCount: 1 << 16,
            maximumChunkByteCount: 1 << 16, maximumFrameCount: 64)
    }

    private let decoder: any ImageDecoding

    public init(_ codec: CodecRegistry.Entry) { decoder = codec.decoder }

    public func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        let data = Data(bytes)
        let options = DecodingOptions(limits: Self.limits)
        let info = try? decoder.inspect(data, limits: options.limits)
        let outcome = decode(data, options)
        if let image = outcome.image {
            require(image.partialError == nil, "a partial image was returned that was not requested")
            require(info != nil, "an image was decoded that could not be inspected")
            require(image.pixels.bytes.byteCount <= options.limits.maximumByteCount, "the limit of bytes was exceeded")
            playFrames(of: image)
        }
        checkPartial(data, outcome)
        checkRows(data, outcome)
        checkPieces(data, outcome, options)
        _ = decode(
            data,
            DecodingOptions(
                limits: options.limits, alphaMode: .premultiplied, appliesOrientation: false,
                target: TargetSize(width: 7, height: 5, mode: .fill), pixelFormat: .rgba16))
        _ = decode(data, DecodingOptions(limits: options.limits, pixelFormat: .gray8))
        _ = try? decoder.decodingByteCount(data, options: options)
        checkHighRange(data, options)
    }

    /// A gain map changes the image only where it is requested, and gives the same rows as the image.
    private func checkHighRange(_ data: Data, _ options: DecodingOptions) {
        var high = options
        (high.dynamicRange, high.includesAnimation) = (.high, false)
        _ = try? decoder.decodingByteCount(data, options: high)
        let collector = RowCollector()
        guard let image = decode(data, high).image,
            (try? decoder.decodeRows(data, options: high, into: collector)) != nil
        else { return }
        require(collector.holds(image.pixels), "rows of HDR differ from the image")
    }

    private struct Outcome {
        var image: DecodedImage?
        var code: ImageDecodingError.Code?
    }

    private func decode(_ data: Data, _ options: DecodingOptions) -> Outcome {
        do throws(ImageDecodingError) {
            return Outcome(image: try decoder.decode(data, options: options))
        } catch {
            return Outcome(code: error.code)
        }
    }

    private func playFrames(of image: DecodedImage) {
        guard let frames = image.frames else { return }
        for index in 0..<frames.frameCount { _ = try? frames.frame(at: index) }
        _ = try? frames.frame(at: frames.frameCount / 2)
    }

    private func checkPartial(_ data: Data, _ outcome: Outcome) {
        let partial = decode(data, DecodingOptions(limits: Self.limits, allowsPartial: true))
        if let image = outcome.image {
            require(partial.image?.pixels == image.pixels, "a whole image differs when parts are allowed")
            require(partial.image.map { $0.partialError == nil } == true, "a whole image is marked as a part")
        } else if let image = partial.image {
            require(image.partialError != nil, "a part is not marked as one")
            playFrames(of: image)
        }
    }

    private func checkRows(_ data: Data, _ outcome: Outcome) {
        let collector = RowCollector()
        do {
            try decoder.decodeRows(
                data, options: DecodingOptions(limits: Self.limits, includesAnimation: false), into: collector)
            let still = decode(data, DecodingOptions(limits: Self.limits, includesAnimation: false))
            require(still.image.map { collector.holds($0.pixels) } == true, "rows differ from the image")
        } catch {
            require(
                error is ImageDecodingError && (outcome.image == nil || outcome.image?.frames != nil),
                "rows of a good image throw \(error)")
        }
    }

    private func checkPieces(_ data: Data, _ outcome: Outcome, _ options: DecodingOptions) {
        let pieces = decoder.makeIncrementalDecoder(options: options)
        do throws(ImageDecodingError) {
            var rest = data[...]
            var size = 1
            while !rest.isEmpty {
                try pieces.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                size = size * 5 % 1021 + 1
                if size % 3 == 0 { _ = try pieces.preview() }
            }
            let image = try pieces.finish()
            require(image.pixels == outcome.image?.pixels, "bytes in pieces give another image")
        } catch {
            require(outcome.image == nil, "bytes in pieces throw \(error) for a good image")
            require(
                error.code == outcome.code,
                "bytes in pieces throw \(error.code), at once \(outcome.code.debugDescription)")
        }
    }

    private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
        guard !condition else { return }
        fatalError(message())
    }
}

/// Collects the rows of an image.
private final class RowCollector: PixelRowConsumer {
    private var header: PixelRowHeader?
    private var bytes: [UInt8] = []

    func begin(_ header: PixelRowHeader) throws { self.header = header }

    func consume(_ row: RawSpan) throws { row.withUnsafeBytes { bytes.append(contentsOf: $0) } }

    func finish() throws {}

    /// Returns whether the rows equal `pixels`.
    func holds(_ pixels: PixelBuffer) -> Bool {
        guard let header, header.size == pixels.size, header.format == pixels.format,
            header.alphaMode == pixels.alphaMode
        else { return false }
        var expected: [UInt8] = []
        for y in 0..<pixels.size.height { pixels.row(y).withUnsafeBytes { expected.append(contentsOf: $0) } }
        return bytes == expected
    }
}
