public import AlcedoCore
public import FoundationEssentials

/// Decodes GIF of both versions, still and animated.
///
/// The result is RGBA8 of the canvas's size. Frames are clipped to the canvas; what they do not cover and what they mark
/// as transparent is transparent black, as browsers have it, whatever the file's background colour. Indices beyond the
/// palette are opaque black. GIF knows no partial transparency, so straight and premultiplied samples are the same. A
/// target size is met by averaging; other pixel formats than RGBA8 are not given.
///
/// The blocks and codes are read by this module itself, because giflib refuses images of more than 256 indices, accepts
/// codes that mean nothing, and cannot be fed piece by piece. giflib writes: see ``GIFEncoder``.
/// Source: CompuServe, "Graphics Interchange Format, Version 89a", 1990.
public struct GIFDecoder: ImageDecoding {
    /// Decoders hold nothing; one is as good as another.
    public init() {}

    /// Reads all blocks, without decoding a pixel.
    ///
    /// - Throws: ``ImageDecodingError``; `truncated` for a file without its end, `exceedsLimit` for more frames than
    ///   `limits` allows.
    /// - Complexity: O(blocks): one step for every 255 bytes of pixel data.
    public func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try structure(of: data, limits: limits).info
    }

    public func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        // Without this, the first frame of a file that ends early would be decoded only to be thrown away.
        if !options.allowsPartial { _ = try structure(of: data, limits: options.limits) }
        let state = GIFDecodingState(options: options)
        try state.append(data)
        return try state.finish()
    }

    /// Hands over the rows of the first frame. Memory is O(*w*), except for interlaced images and for frames that do not
    /// fill the canvas.
    ///
    /// - Throws: ``ImageDecodingError``, and what the consumer throws.
    public func decodeRows(_ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer) throws {
        let structure = try structure(of: data, limits: options.limits)
        let frame = structure.frames[0]
        guard !frame.isInterlaced, frame.size == structure.canvas, frame.area.covers(structure.canvas) else {
            return try decode(data, options: options.forRows).sendRows(to: consumer)
        }
        let chain = options.chain(from: BoxReduction(from: structure.canvas, towards: options.target), to: consumer)
        try chain.begin(
            PixelRowHeader(
                size: structure.canvas, format: .rgba8,
                alphaMode: frame.transparentIndex == nil ? .opaque : .straight,
                colorProfile: structure.metadata.colorProfile))
        try GIFRowStream(frame, structure).send(data, to: chain)
    }

    public func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(GIFDecodingState(options: options))
    }

    /// The canvas, the pixels of a frame, and what the options make of the canvas; for an animation two more canvases.
    ///
    /// - Throws: ``ImageDecodingError`` as ``inspect(_:limits:)``.
    public func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let structure = try structure(of: data, limits: options.limits)
        let frame = structure.frames.map { structure.byteCount(of: $0, options) }.max() ?? 0
        guard structure.frames.count > 1, options.includesAnimation else { return frame }
        return frame + 2 * (PixelBuffer.byteCount(size: structure.canvas, format: .rgba8) ?? 0)
    }

    private func structure(of data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> GIFStructure {
        var parser = GIFParser(limits: limits)
        try data.withDecoderInput { bytes throws(ImageDecodingError) in try parser.advance(bytes) }
        try parser.requireEnd()
        guard let structure = parser.structure else { throw ImageDecodingError(.truncated, "GIF: there is no header") }
        return structure
    }
}
