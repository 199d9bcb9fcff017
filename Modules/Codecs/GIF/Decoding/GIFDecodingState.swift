import AlcedoCore
import FoundationEssentials

/// The state of a GIF that is decoded while its bytes arrive, or of a complete file.
///
/// All bytes are kept, because the frames of an animation are decoded from them on request.
final class GIFDecodingState: IncrementalDecodingState {
    private let options: DecodingOptions
    private var parser: GIFParser
    private var data = Data()
    private var first: GIFFrameImage?
    private var previewedRows = 0
    /// The error of decoding the first frame. Only ``finish()`` throws it, and only if the blocks have no error, so
    /// that the result does not depend on how the bytes arrive.
    private var pixelError: ImageDecodingError?

    init(options: DecodingOptions) {
        self.options = options
        parser = GIFParser(limits: options.limits)
    }

    /// Creates the state of a complete file whose blocks have been read with the limits of the options.
    init(_ data: Data, _ parser: GIFParser, options: DecodingOptions) {
        (self.data, self.parser, self.options) = (data, parser, options)
    }

    var info: ImageInfo? { parser.structure.flatMap { $0.canvas.isPositive ? $0.info : nil } }

    var decodingByteCount: Int? {
        guard let structure = parser.structure, let frame = parser.firstFrame else { return nil }
        return structure.byteCount(of: frame, options)
    }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard !data.isEmpty else { return }
        let isKnown = parser.firstFrame != nil
        try data.withDecoderInput(of: "GIF") { bytes throws(ImageDecodingError) in try parser.advance(bytes) }
        if isKnown { decodeFirst() }
    }

    /// Decodes the first frame as far as its bytes are available.
    private func decodeFirst() {
        guard pixelError == nil, let structure = parser.structure, let frame = parser.firstFrame else { return }
        do throws(ImageDecodingError) {
            if first == nil { first = GIFFrameImage(frame) }
            try data.withDecoderInput(of: "GIF") { bytes throws(ImageDecodingError) -> Void in
                try first?.advance(bytes, structure)
            }
        } catch {
            pixelError = error
        }
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        if first == nil { decodeFirst() }
        guard let first, first.rowCount > previewedRows, let structure = parser.structure,
            let frame = parser.firstFrame
        else { return nil }
        previewedRows = first.rowCount
        var firstOnly = structure
        firstOnly.frames = [frame]
        let image = try still(first.pixels(), firstOnly)
        guard frame.isInterlaced else { return ImagePreview(image: image, rowCount: first.rowCount) }
        let pass = Self.pass(of: first.rowCount, height: frame.size.height)
        return ImagePreview(image: image, pass: pass.number, rowCount: pass.rows)
    }

    /// Returns the interlace pass of the most recently decoded row, and the number of rows of the image, from the top,
    /// that this pass has covered. `rows` is the number of decoded rows.
    private static func pass(of rows: Int, height: Int) -> (number: Int, rows: Int) {
        var left = rows
        for (number, (start, step)) in [(0, 8), (4, 8), (2, 4), (1, 2)].enumerated() {
            let count = start < height ? (height - start - 1) / step + 1 : 0
            if left <= count { return (number + 1, left == count ? height : left * step) }
            left -= count
        }
        return (4, height)
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        let structure = try data.withDecoderInput(of: "GIF") { bytes throws(ImageDecodingError) in
            try parser.finish(bytes)
        }
        if first == nil { decodeFirst() }
        if let pixelError { throw pixelError }
        guard let first else { throw ImageDecodingError(.corrupt, "GIF: the file has no image") }
        let isPlaceholder = structure.canvas == PixelSize(width: 1, height: 1) || structure.frames.count > 1
        let damage = ImageDamage.worst(
            .worst(first.damage(mayBePlaceholder: isPlaceholder), parser.damage), structure.info.metadataDamage)
        try options.check(damage)
        // A partial image needs at least one row, or another frame.
        let isOnly = structure.frames.count == 1 || !first.isEmpty
        if let damage, damage.kind > .harmless, first.rowCount == 0, isOnly { throw damage.error }
        var image = try image(first, structure)
        if !first.isComplete { image.pixels = image.pixels.reinterpreted(as: alphaMode) }
        image.damage = damage
        return image
    }

    /// The alpha mode of pixels that may be transparent.
    private var alphaMode: AlphaMode { options.alphaMode == .premultiplied ? .premultiplied : .straight }

    private func image(_ first: GIFFrameImage, _ structure: GIFStructure) throws(ImageDecodingError) -> DecodedImage {
        var firstOnly = structure
        firstOnly.frames = Array(structure.frames.prefix(1))
        var image = try still(first.pixels(), firstOnly)
        if structure.frames.count > 1, options.includesAnimation, let layout = structure.layout {
            try options.limits.check(layout)
            // Later frames may be transparent, so the first frame gets the alpha mode that they have.
            image.pixels = image.pixels.reinterpreted(as: alphaMode)
            image.frames = CompositedAnimation(
                layout, decoder: GIFFrameDecoder(data: data, structure: structure), options: options)
        }
        return image
    }

    /// Returns the first frame of `structure`, drawn on an empty canvas. `pixels` are the pixels of that frame.
    private func still(_ pixels: PixelBuffer, _ structure: GIFStructure) throws(ImageDecodingError) -> DecodedImage {
        guard var layout = structure.layout, let frame = structure.frames.first else {
            throw ImageDecodingError(.corrupt, "GIF: the file has no image")
        }
        // No frame follows, for which the canvas would keep a copy of itself.
        layout.frames[0].disposal = .keep
        let canvas = CompositedAnimation(layout, decoder: KnownFrame(pixels: pixels), options: options)
        let shown = try canvas.composited(0)
        let isOpaque = !structure.mayBeTransparent(frame) && frame.area.covers(structure.canvas)
        return DecodedImage(
            pixels: isOpaque ? shown.reinterpreted(as: .opaque) : shown, colorProfile: structure.sampleProfile,
            format: .gif)
    }

    /// A frame that has already been decoded.
    private struct KnownFrame: FrameDecoding {
        var pixels: PixelBuffer
        var byteCount: Int { pixels.byteCount }
        func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?) {
            (pixels, nil)
        }
    }
}

/// The pixels of one image at the size of its area, as far as they have been decoded.
private struct GIFFrameImage {
    private let frame: GIFFrame
    private var decoder: GIFRowDecoder?
    private var palette: GIFPalette?
    private var hasPalette = true
    /// The rows; nil until the first one is decoded, so that a frame without data takes no memory.
    private var rows: PixelBuffer?

    /// Creates an image without rows. The caller must have checked the limits.
    init(_ frame: GIFFrame) { self.frame = frame }

    /// Returns the pixels in straight RGBA8. Missing rows are transparent. Throws `outOfMemory`.
    func pixels() throws(ImageDecodingError) -> PixelBuffer {
        if let rows { return rows }
        guard let pixels = PixelBuffer(size: frame.size, format: .rgba8, alphaMode: .straight) else {
            throw ImageDecodingError.noMemory(for: frame.size)
        }
        return pixels
    }

    var rowCount: Int { decoder?.rowCount ?? 0 }

    var isComplete: Bool { decoder?.isComplete == true }

    /// Whether the data of the image, if there is any, has ended without a pixel.
    var isEmpty: Bool { decoder?.isEmpty ?? true }

    /// Returns the damage of the image, if no more bytes follow.
    ///
    /// - Parameter mayBePlaceholder: Whether one pixel without data is a placeholder, which is meant to be transparent.
    func damage(mayBePlaceholder: Bool) -> ImageDamage? {
        if isEmpty {
            let isPlaceholder = mayBePlaceholder && frame.size == PixelSize(width: 1, height: 1)
            let error = ImageDecodingError(.corrupt, "GIF: the image has no pixels")
            return ImageDamage(isPlaceholder ? .harmless : .missingPixels, error)
        }
        if let damage = decoder?.damage { return damage }
        return hasPalette
            ? nil : ImageDamage(.wrongPixels, ImageDecodingError(.corrupt, "GIF: the image has no color table"))
    }

    /// Decodes as far as bytes are available.
    mutating func advance(
        _ bytes: UnsafeBufferPointer<UInt8>, _ structure: GIFStructure
    ) throws(ImageDecodingError) {
        guard !isComplete else { return }
        let palette = self.palette ?? GIFPalette(of: frame, in: structure, bytes)
        self.palette = palette
        hasPalette = structure.palette(of: frame) != nil
        // A placeholder may end before the size of its codes.
        if self.decoder == nil, frame.dataStart < bytes.count {
            self.decoder = GIFRowDecoder(frame, codeSize: bytes[frame.dataStart])
        }
        guard let decoder, var row = try decoder.next(bytes) else { return }
        var pixels = try self.pixels()
        // No other variable may hold the buffer, because writing would then copy it.
        rows = nil
        defer { rows = pixels }
        let stride = pixels.bytesPerRow
        let width = frame.size.width
        try pixels.withUnsafeMutableBytes { memory throws(ImageDecodingError) in
            guard let base = memory.baseAddress else { return }
            while true {
                palette.write(row.indices, count: width, to: base + row.y * stride)
                guard let next = try decoder.next(bytes) else { return }
                row = next
            }
        }
    }
}

/// A decoder of single images for the compositor. Pixels that cannot be decoded are transparent.
private struct GIFFrameDecoder: FrameDecoding {
    let data: Data
    let structure: GIFStructure

    var byteCount: Int { data.count + structure.frames.count * MemoryLayout<GIFFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?) {
        var image = GIFFrameImage(structure.frames[index])
        try data.withDecoderInput(of: "GIF") { bytes throws(ImageDecodingError) in
            try image.advance(bytes, structure)
        }
        let damage = image.damage(mayBePlaceholder: true)
        // An empty frame after the first ends the animation, so its pixels are not needed.
        if index > 0, let damage, damage.kind == .missingPixels { throw damage.error }
        return (try image.pixels(), damage)
    }
}
