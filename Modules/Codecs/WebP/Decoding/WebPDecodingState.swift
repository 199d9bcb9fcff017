import AlcedoCore
import FoundationEssentials

/// Decodes a WebP while its bytes arrive; all at once is the same with one piece.
///
/// Keeps all bytes, because libwebp reads from them and frames are decoded from them when they are asked for. Of an
/// animation nothing is decoded before the end, but for previews of its first frame.
final class WebPDecodingState: IncrementalDecodingState {
    private let options: DecodingOptions
    private let settings: WebPSettings
    private var container: WebPContainer
    private var data = Data()
    /// The still image, when its bytes do not come all at once, or are damaged.
    private var partialImage: WebPPartialImage?
    /// Bytes of the file that were there when libwebp went on last.
    private var decodedByteCount = 0
    private var previewedRows = 0
    /// Why only a part can be had, when parts are allowed.
    private var partialError: ImageDecodingError?
    /// Whether libwebp refuses the rest of the still image. At the end it is asked again, with all bytes at once, when it
    /// is more lenient, so that the outcome is the same however the bytes come.
    private var isStuck = false

    private static let pieceByteCount = 32 << 10

    init(options: DecodingOptions, _ settings: WebPSettings) {
        self.options = options
        self.settings = settings
        container = WebPContainer(limits: options.limits)
    }

    var info: ImageInfo? { container.info }

    var decodingByteCount: Int? { container.byteCount(options, isIncremental: true) }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        let isKnown = container.firstFrame != nil
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard partialError == nil, !data.isEmpty else { return }
        do throws(ImageDecodingError) {
            try data.withDecoderInput { bytes throws(ImageDecodingError) in try container.advance(bytes) }
        } catch {
            try accept(error)
        }
        // A whole image waits for the end: libwebp is faster when it has all bytes. And each piece makes it begin some
        // rows again, so small ones wait for one another, or for a preview.
        guard isKnown, partialImage != nil || container.arriving != nil,
            data.count - decodedByteCount >= Self.pieceByteCount
        else { return }
        try advance()
    }

    /// Notes damage that is allowed, and throws what is not.
    private func accept(_ error: ImageDecodingError) throws(ImageDecodingError) {
        guard options.allows(error) else { throw error }
        partialError = error
    }

    /// Decodes the still image as far as its bytes reach.
    private func advance() throws(ImageDecodingError) {
        guard !isStuck, !container.isAnimated, let frame = container.firstFrame else { return }
        // An orientation behind the pixels changes, once, what is wanted for a target.
        if partialImage?.size != size {
            // The old memory is released first.
            partialImage = nil
            partialImage = try WebPPartialImage(frame, size: size)
        }
        guard let partialImage else { return }
        decodedByteCount = data.count
        do throws(ImageDecodingError) {
            try data.withDecoderInput { bytes throws(ImageDecodingError) in
                try partialImage.advance(frame.bytes(in: bytes))
            }
        } catch {
            isStuck = true
        }
    }

    /// The size, as stored, that libwebp is to make of the still image.
    private var size: PixelSize { container.size(for: options.target) }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        // Nobody wants a picture that turns over while it loads.
        guard !options.appliesOrientation || container.isOrientationKnown else { return nil }
        if container.isAnimated { return try previewOfFirstFrame() }
        if partialImage?.size != size || decodedByteCount < data.count { try advance() }
        guard let partialImage, partialImage.rowCount > previewedRows else { return nil }
        previewedRows = partialImage.rowCount
        return ImagePreview(image: try image(partialImage.copy()), rowCount: partialImage.rowCount)
    }

    private func previewOfFirstFrame() throws(ImageDecodingError) -> ImagePreview? {
        guard previewedRows == 0, !container.frames.isEmpty, let animation else { return nil }
        // Damage is said at the end.
        guard let pixels = try? animation.composited(0) else { return nil }
        previewedRows = pixels.height
        return ImagePreview(image: decoded(pixels), rowCount: pixels.height)
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        guard !data.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
        if partialError == nil {
            do throws(ImageDecodingError) { try container.requireEnd() } catch { try accept(error) }
        }
        var result: DecodedImage
        do throws(ImageDecodingError) {
            result = try container.isAnimated ? animatedImage(partialError) : stillImage(partialError)
        } catch {
            if partialError == nil { try accept(error) }
            guard let partialError else { throw error }
            return try part(partialError)
        }
        result.partialError = partialError
        return result
    }

    /// The frames there are. Throws `missing`, or what is wrong with the first frame, when there is none.
    private func animatedImage(_ missing: ImageDecodingError?) throws(ImageDecodingError) -> DecodedImage {
        guard let animation else { throw missing ?? ImageDecodingError(.corrupt, "WebP: there is no image") }
        var image = decoded(try animation.composited(0))
        if container.frames.count > 1, options.includesAnimation { image.frames = animation }
        return image
    }

    private var animation: CompositedAnimation<WebPFrameDecoder>? {
        guard let layout = container.layout else { return nil }
        let decoder = WebPFrameDecoder(data: data, frames: container.frames, settings: settings)
        return CompositedAnimation(layout, decoder: decoder, orientation: container.orientation, options: options)
    }

    private func stillImage(_ missing: ImageDecodingError?) throws(ImageDecodingError) -> DecodedImage {
        if partialImage != nil { try advance() }
        guard let frame = container.frames.first else {
            throw missing ?? ImageDecodingError(.corrupt, "WebP: there is no image")
        }
        let size = size
        let averaged = try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try frame.averaged(bytes, to: size)
        }
        if let averaged { return try image(averaged) }
        let pixels: PixelBuffer
        if let partialImage, partialImage.size == size, let finished = try? partialImage.finished() {
            pixels = finished
        } else {
            // All bytes came at once, or the wanted size has changed, or libwebp refused a piece.
            pixels = try data.withDecoderInput { bytes throws(ImageDecodingError) in
                try frame.pixels(bytes, size: size, settings)
            }
        }
        let isOpaque = !frame.declaresAlpha && !frame.isLossless || pixels.hasOnlyOpaquePixels
        return try image(isOpaque ? pixels.reinterpreted(as: .opaque) : pixels)
    }

    /// The rows there are of the still image; throws the damage when there are none.
    private func part(_ partialError: ImageDecodingError) throws(ImageDecodingError) -> DecodedImage {
        try advance()
        guard let partialImage, partialImage.rowCount > 0 else { throw partialError }
        var image = try image(partialImage.copy())
        image.partialError = partialError
        return image
    }

    /// The image of the still image's pixels, as stored.
    private func image(_ pixels: PixelBuffer) throws(ImageDecodingError) -> DecodedImage {
        let upright = options.appliesOrientation ? try pixels.upright(from: container.orientation) : pixels
        return decoded(options.alphaMode == .premultiplied ? upright.premultiplied() : upright)
    }

    private func decoded(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: container.metadata.colorProfile,
            orientation: options.appliesOrientation ? .up : container.orientation, format: .webp)
    }
}

/// Decodes single frames of a file for the compositor.
private struct WebPFrameDecoder: FrameDecoding {
    let data: Data
    let frames: [WebPFrame]
    let settings: WebPSettings

    var byteCount: Int { data.count + frames.count * MemoryLayout<WebPFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        let frame = frames[index]
        return try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try frame.pixels(bytes, size: frame.area.size, settings)
        }
    }
}

extension PixelBuffer {
    /// Whether every alpha sample of an RGBA8 buffer is at its maximum. O(*w* × *h*), less when an early row is not.
    var hasOnlyOpaquePixels: Bool {
        withUnsafeBytes { memory in
            (0..<height).allSatisfy { y in
                let row = memory[y * bytesPerRow..<y * bytesPerRow + usedBytesPerRow]
                let words = UnsafeRawBufferPointer(rebasing: row).bindMemory(to: UInt32.self)
                return UInt32(littleEndian: words.reduce(.max, &)) >> 24 == 255
            }
        }
    }
}
