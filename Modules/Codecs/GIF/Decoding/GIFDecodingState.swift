import AlcedoCore
import FoundationEssentials

/// Decodes a GIF while its bytes arrive; all at once is the same with one piece.
///
/// Keeps all bytes: the frames after the first are decoded from them when they are asked for.
final class GIFDecodingState: IncrementalDecodingState {
    private let options: DecodingOptions
    private var parser: GIFParser
    private var data = Data()
    private var first: GIFFrameImage?
    private var previewedRows = 0
    /// Why only a part can be had, when parts are allowed.
    private var partialError: ImageDecodingError?
    /// What is wrong with the first frame's pixels. Said at the end, behind what is wrong with the blocks, so that the
    /// error is the same however the bytes come.
    private var pixelError: ImageDecodingError?

    init(options: DecodingOptions) {
        self.options = options
        parser = GIFParser(limits: options.limits)
    }

    var info: ImageInfo? { parser.structure?.info }

    var decodingByteCount: Int? {
        guard let structure = parser.structure, let frame = parser.firstFrame else { return nil }
        return structure.byteCount(of: frame, options)
    }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard partialError == nil, !data.isEmpty else { return }
        let isKnown = parser.firstFrame != nil
        do throws(ImageDecodingError) {
            try data.withDecoderInput { bytes throws(ImageDecodingError) in try parser.advance(bytes) }
        } catch {
            try accept(error)
        }
        if isKnown { decodeFirst() }
    }

    /// Notes damage that is allowed, and throws what is not.
    private func accept(_ error: ImageDecodingError) throws(ImageDecodingError) {
        guard options.allows(error) else { throw error }
        partialError = error
    }

    /// Decodes the first frame as far as its bytes reach.
    private func decodeFirst() {
        guard pixelError == nil, let structure = parser.structure, let frame = parser.firstFrame else { return }
        do throws(ImageDecodingError) {
            if first == nil { first = try GIFFrameImage(frame) }
            try data.withDecoderInput { bytes throws(ImageDecodingError) -> Void in
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
        var seen = structure
        seen.frames = [frame]
        let image = try still(first.pixels, seen)
        guard frame.isInterlaced else { return ImagePreview(image: image, rowCount: first.rowCount) }
        let pass = Self.pass(of: first.rowCount, height: frame.size.height)
        return ImagePreview(image: image, pass: pass.number, rowCount: pass.rows)
    }

    /// Which pass of an interlaced image the last row belongs to, and how many rows of the picture it has passed over.
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
        guard !data.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
        if first == nil { decodeFirst() }
        if partialError == nil {
            do throws(ImageDecodingError) {
                try parser.requireEnd()
                if let pixelError { throw pixelError }
                try first?.requireComplete()
            } catch {
                try accept(error)
            }
        }
        guard let partialError else { return try image() }
        // A part without a row is nothing to show.
        guard let first, first.rowCount > 0 else { throw partialError }
        var part = try first.isComplete ? image() : still(first.pixels, seenFirst)
        if !first.isComplete { part.pixels = part.pixels.reinterpreted(as: alphaMode) }
        part.partialError = partialError
        return part
    }

    /// The mode of pixels that may be transparent.
    private var alphaMode: AlphaMode { options.alphaMode == .premultiplied ? .premultiplied : .straight }

    /// The structure with the first frame alone, finished or not.
    private var seenFirst: GIFStructure {
        var seen = parser.structure ?? GIFStructure(canvas: PixelSize(width: 1, height: 1))
        seen.frames = parser.firstFrame.map { [$0] } ?? []
        return seen
    }

    private func image() throws(ImageDecodingError) -> DecodedImage {
        guard let structure = parser.structure, let pixels = first?.pixels else {
            throw ImageDecodingError(.corrupt, "GIF: there is no image")
        }
        var image = try still(pixels, seenFirst)
        if structure.frames.count > 1, options.includesAnimation, let layout = structure.layout {
            // Frames are not known to be opaque, and this is the first of them.
            image.pixels = image.pixels.reinterpreted(as: alphaMode)
            image.frames = CompositedAnimation(
                layout, decoder: GIFFrameDecoder(data: data, structure: structure), options: options)
        }
        return image
    }

    /// A frame on an empty canvas.
    private func still(_ pixels: PixelBuffer, _ structure: GIFStructure) throws(ImageDecodingError) -> DecodedImage {
        guard let layout = structure.layout, let frame = structure.frames.first else {
            throw ImageDecodingError(.corrupt, "GIF: there is no image")
        }
        let canvas = CompositedAnimation(layout, decoder: KnownFrame(pixels: pixels), options: options)
        let shown = try canvas.composited(0)
        let isOpaque = frame.transparentIndex == nil && frame.area.covers(structure.canvas)
        return DecodedImage(
            pixels: isOpaque ? shown.reinterpreted(as: .opaque) : shown, colorProfile: structure.metadata.colorProfile,
            format: .gif)
    }

    /// A frame that has been decoded already.
    private struct KnownFrame: FrameDecoding {
        var pixels: PixelBuffer
        var byteCount: Int { pixels.byteCount }
        func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer { pixels }
    }
}

/// The pixels of one image, of the size of its area, as far as they have been decoded.
private struct GIFFrameImage {
    private let frame: GIFFrame
    private var decoder: GIFRowDecoder?
    private var palette: GIFPalette?
    /// Straight RGBA8; rows that have not come are transparent.
    private(set) var pixels: PixelBuffer

    /// Throws `outOfMemory` when there is no memory for the pixels. The limits have been checked.
    init(_ frame: GIFFrame) throws(ImageDecodingError) {
        self.frame = frame
        guard let pixels = PixelBuffer(size: frame.size, format: .rgba8, alphaMode: .straight) else {
            throw ImageDecodingError.noMemory(for: frame.size)
        }
        self.pixels = pixels
    }

    var rowCount: Int { decoder?.rowCount ?? 0 }

    var isComplete: Bool { decoder?.isComplete == true }

    /// Decodes as far as the bytes reach.
    mutating func advance(
        _ bytes: UnsafeBufferPointer<UInt8>, _ structure: GIFStructure
    ) throws(ImageDecodingError) {
        guard !isComplete else { return }
        let palette = self.palette ?? GIFPalette(of: frame, in: structure, bytes)
        self.palette = palette
        if self.decoder == nil { self.decoder = try GIFRowDecoder(frame, codeSize: bytes[frame.dataStart]) }
        guard let decoder else { return }
        let stride = pixels.bytesPerRow
        let width = frame.size.width
        try pixels.withUnsafeMutableBytes { memory throws(ImageDecodingError) in
            guard let base = memory.baseAddress else { return }
            while let row = try decoder.next(bytes) {
                palette.write(row.indices, count: width, to: base + row.y * stride)
            }
        }
    }

    func requireComplete() throws(ImageDecodingError) {
        guard isComplete else { throw ImageDecodingError(.truncated, "GIF: the bytes end inside an image") }
    }
}

/// Decodes single images of a file for the compositor.
private struct GIFFrameDecoder: FrameDecoding {
    let data: Data
    let structure: GIFStructure

    var byteCount: Int { data.count + structure.frames.count * MemoryLayout<GIFFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        let frame = structure.frames[index]
        var image = try GIFFrameImage(frame)
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try image.advance(bytes, structure)
            try image.requireComplete()
        }
        return image.pixels
    }
}
