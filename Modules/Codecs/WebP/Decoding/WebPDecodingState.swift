import AlcedoCore
import FoundationEssentials

/// The state of a WebP that is decoded while its bytes arrive, or of a complete file.
///
/// All bytes are kept, because libwebp reads from them and the frames of an animation are decoded on request.
final class WebPDecodingState: IncrementalDecodingState {
    private let options: DecodingOptions
    private let settings: WebPSettings
    private var container: WebPContainer
    private var data = Data()
    /// The incremental decoder of the still image, or `nil` while none is needed.
    private var partialImage: WebPPartialImage?
    /// The number of received bytes when the still image was last decoded incrementally.
    private var decodedByteCount = 0
    private var previewedRows = 0
    /// Whether incremental decoding of the still image is skipped because libwebp has rejected its bytes. A complete
    /// image can still be decoded, because libwebp is more lenient with all bytes in one call.
    private var isStuck = false
    /// The maximum number of bytes of the prefix codes of the first frame, or nil before it is known.
    private var tableByteCount: Int?
    /// Whether the prefix codes of all frames have been checked.
    private let hasCheckedTables: Bool
    /// The number of received bytes when the prefix codes were last looked for.
    private var searchedByteCount = 0

    private static let pieceByteCount = 32 << 10

    init(options: DecodingOptions, _ settings: WebPSettings) {
        self.options = options
        self.settings = settings
        container = WebPContainer(limits: options.limits)
        hasCheckedTables = false
    }

    /// Creates the state of a complete file whose chunks have been read with the limits of the options, and whose
    /// prefix codes have been checked.
    init(_ data: Data, _ container: WebPContainer, options: DecodingOptions, _ settings: WebPSettings) {
        (self.data, self.container, self.options, self.settings) = (data, container, options, settings)
        (tableByteCount, hasCheckedTables) = (0, true)
    }

    var info: ImageInfo? { container.info }

    var decodingByteCount: Int? {
        tableByteCount.flatMap { container.byteCount(options, tables: $0, isIncremental: true) }
    }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        let isKnown = container.firstFrame != nil
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard !data.isEmpty else { return }
        try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in try container.advance(bytes) }
        try findTables()
        // An image that is complete before its decoding starts is not decoded here, because libwebp is faster with all
        // bytes in one call. Each piece makes libwebp decode some rows again, so small pieces are collected.
        guard isKnown, partialImage != nil || container.arriving != nil,
            data.count - decodedByteCount >= Self.pieceByteCount
        else { return }
        try advance()
    }

    /// Determines the memory of the prefix codes of the first frame, before libwebp reads them. Throws `exceedsLimit`.
    private func findTables() throws(ImageDecodingError) {
        // Each search begins at the start of the frame, so the next one waits for a quarter more bytes.
        guard tableByteCount == nil, let frame = container.firstFrame,
            frame.bitstream.upperBound <= data.count || data.count - searchedByteCount >= searchedByteCount / 4
        else { return }
        searchedByteCount = data.count
        let count = try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
            frame.tableByteCount(in: bytes)
        }
        guard let count else { return }
        try WebPFrame.check(tables: count, options.limits)
        tableByteCount = count
    }

    /// Checks the prefix codes of all frames that the options include, after the last byte. Throws `exceedsLimit`.
    private func checkTables() throws(ImageDecodingError) {
        guard !hasCheckedTables else { return }
        let count = try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
            container.tableByteCount(options, in: bytes)
        }
        try WebPFrame.check(tables: count, options.limits)
        tableByteCount = count
    }

    /// Decodes the still image as far as bytes are available, if the memory of its prefix codes is known.
    private func advance() throws(ImageDecodingError) {
        guard !isStuck, !container.isAnimated, tableByteCount != nil, let frame = container.firstFrame else { return }
        // An orientation stored after the pixels can change the size for a target once.
        if partialImage?.size != size {
            // The old memory is released before the new memory is allocated.
            partialImage = nil
            partialImage = try WebPPartialImage(frame, size: size)
        }
        guard let partialImage else { return }
        decodedByteCount = data.count
        do throws(ImageDecodingError) {
            try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
                try partialImage.advance(frame.bytes(in: bytes))
            }
        } catch {
            guard error.code != .outOfMemory else { throw error }
            isStuck = true
        }
    }

    /// The size, in stored orientation, to which the still image is decoded.
    private var size: PixelSize { container.size(for: options.averagingTarget) }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        // Declared EXIF must not change the orientation between previews.
        guard !options.appliesOrientation || container.isOrientationKnown else { return nil }
        if container.isAnimated { return try previewOfFirstFrame() }
        if partialImage?.size != size || decodedByteCount < data.count { try advance() }
        guard let partialImage, partialImage.rowCount > previewedRows else { return nil }
        previewedRows = partialImage.rowCount
        return ImagePreview(image: try image(partialImage.copy()), rowCount: partialImage.rowCount)
    }

    private func previewOfFirstFrame() throws(ImageDecodingError) -> ImagePreview? {
        guard previewedRows == 0, let animation = animation(container.frames.first) else { return nil }
        // Errors are thrown at the end.
        guard let pixels = try? animation.composited(0) else { return nil }
        previewedRows = pixels.height
        return ImagePreview(image: decoded(pixels), rowCount: pixels.height)
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        guard !data.isEmpty else { throw ImageDecodingError(.empty, "WebP: the data is empty") }
        try container.finish()
        try checkTables()
        do throws(ImageDecodingError) {
            guard let frame = container.frames.first else {
                throw ImageDecodingError(.truncated, "WebP: the data ends within the image")
            }
            return try image(frame)
        } catch {
            guard options.allows(error) else { throw error }
            return try part(error)
        }
    }

    /// Returns the image, whose first frame is complete. If its alpha cannot be decoded, the frame is opaque.
    private func image(_ frame: WebPFrame) throws(ImageDecodingError) -> DecodedImage {
        var image: DecodedImage
        var damage = container.damage
        do throws(ImageDecodingError) {
            image = try container.isAnimated ? animatedImage(frame) : stillImage(frame)
        } catch {
            guard let opaque = frame.withoutAlpha, error.code != .outOfMemory else { throw error }
            // If the color is damaged too, the error is that of the whole frame.
            guard let result = try? container.isAnimated ? animatedImage(opaque) : stillImage(opaque) else {
                throw error
            }
            image = result
            damage = WebPFrame.alphaDamage
            try options.check(damage)
        }
        image.damage = damage
        return image
    }

    /// Returns the first frame, with the animation of the available frames if the options include it.
    private func animatedImage(_ frame: WebPFrame) throws(ImageDecodingError) -> DecodedImage {
        guard let animation = animation(frame) else {
            throw ImageDecodingError(.corrupt, "WebP: the file has no image")
        }
        if container.frames.count > 1, options.includesAnimation { try options.limits.check(animation.layout) }
        var image = decoded(try animation.composited(0))
        if container.frames.count > 1, options.includesAnimation { image.frames = animation }
        return image
    }

    /// Returns the animation with a first frame; nil when there is none.
    private func animation(_ first: WebPFrame?) -> CompositedAnimation<WebPFrameDecoder>? {
        guard let layout = container.layout, let first else { return nil }
        let frames = [first] + container.frames.dropFirst()
        let decoder = WebPFrameDecoder(data: data, frames: frames, settings: settings)
        return CompositedAnimation(layout, decoder: decoder, orientation: container.orientation, options: options)
    }

    private func stillImage(_ frame: WebPFrame) throws(ImageDecodingError) -> DecodedImage {
        let size = size
        if WebPAverager.averages(frame, to: size) {
            // The averager decodes all bytes itself, so the memory of the previews is released first.
            partialImage = nil
            isStuck = false
        } else if partialImage != nil {
            try advance()
        }
        let averaged = try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
            try frame.averaged(bytes, to: size)
        }
        if let averaged { return try image(averaged) }
        let pixels: PixelBuffer
        if frame.bitstream == container.firstFrame?.bitstream, let partialImage, partialImage.size == size,
            let finished = try? partialImage.finished()
        {
            pixels = finished
        } else {
            // Neither averaging nor incremental decoding has finished the image.
            pixels = try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
                try frame.pixels(bytes, size: size, settings)
            }
        }
        let isOpaque = !frame.declaresAlpha && !frame.isLossless || pixels.hasOnlyOpaquePixels
        return try image(isOpaque ? pixels.reinterpreted(as: .opaque) : pixels)
    }

    /// Returns the available rows of the still image. Throws `partialError` when there are no rows, or `outOfMemory`.
    private func part(_ partialError: ImageDecodingError) throws(ImageDecodingError) -> DecodedImage {
        try advance()
        guard let partialImage, partialImage.rowCount > 0 else { throw partialError }
        var image = try image(partialImage.copy())
        image.partialError = partialError
        return image
    }

    /// Returns the image for pixels of the still image in stored orientation.
    private func image(_ pixels: PixelBuffer) throws(ImageDecodingError) -> DecodedImage {
        let upright = options.appliesOrientation ? try pixels.upright(from: container.orientation) : pixels
        return decoded(options.alphaMode == .premultiplied ? upright.converted(to: .premultiplied) : upright)
    }

    private func decoded(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: container.sampleProfile,
            orientation: options.appliesOrientation ? .up : container.orientation, format: .webp)
    }
}

/// A decoder of single frames for the compositor. A frame after the first of which only the alpha is damaged is opaque;
/// the state has decided that of the first frame.
private struct WebPFrameDecoder: FrameDecoding {
    let data: Data
    let frames: [WebPFrame]
    let settings: WebPSettings

    var byteCount: Int { data.count + frames.count * MemoryLayout<WebPFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?) {
        do throws(ImageDecodingError) { return (try pixels(of: frames[index]), nil) } catch {
            guard index > 0, let opaque = frames[index].withoutAlpha, error.code != .outOfMemory,
                let pixels = try? pixels(of: opaque)
            else { throw error }
            return (pixels, WebPFrame.alphaDamage)
        }
    }

    private func pixels(of frame: WebPFrame) throws(ImageDecodingError) -> PixelBuffer {
        try data.withDecoderInput(of: "WebP") { bytes throws(ImageDecodingError) in
            try frame.pixels(bytes, size: frame.area.size, settings)
        }
    }
}

extension PixelBuffer {
    /// Whether every alpha sample of an RGBA8 buffer is at its maximum. O(*w* × *h*), or less when an early row has
    /// transparent pixels.
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
