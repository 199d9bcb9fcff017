public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.gif`.
///
/// This module reads blocks and codes itself, because giflib rejects palette indices of more than 8 bits, accepts
/// invalid codes, and cannot decode piece by piece. giflib is used for encoding; see `GIFEncoder`. Source: CompuServe,
/// "Graphics Interchange Format, Version 89a", 1990.
package struct GIFDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    /// Reads all blocks without decoding pixels.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` for a file without its end, `exceedsLimit` also for
    ///   more frames than `limits` allows.
    /// - Complexity: O(blocks and sub-blocks). A sub-block of pixel data has at most 255 bytes.
    package func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try structure(of: data, limits: limits).info
    }

    package func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        // Checks for the end first, because the first frame of a truncated file would be decoded and then discarded.
        if !options.allowsPartial { _ = try structure(of: data, limits: options.limits) }
        let state = GIFDecodingState(options: options)
        try state.append(data)
        return try state.finish()
    }

    /// Sends the rows of the first frame. They are sent while the frame is decoded if it is not interlaced and fills
    /// the canvas exactly. Otherwise the frame is decoded as a whole first.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
    package func decodeRows(
        _ data: Data, options: DecodingOptions, into consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        let structure = try structure(of: data, limits: options.limits)
        let frame = structure.frames[0]
        guard !frame.isInterlaced, frame.size == structure.canvas, frame.area.covers(structure.canvas) else {
            return try decode(data, options: options.forRows).sendRows(to: consumer)
        }
        let chain = options.chain(
            from: BoxReduction(from: structure.canvas, towards: options.averagingTarget), to: consumer)
        try chain.begin(
            PixelRowHeader(
                size: structure.canvas, format: .rgba8,
                alphaMode: frame.transparentIndex == nil ? .opaque : .straight,
                colorProfile: structure.sampleProfile))
        try GIFRowStream(frame, structure).send(data, to: chain)
        return nil
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(GIFDecodingState(options: options))
    }

    /// Returns the number of bytes of the canvas, the pixels of the largest frame and the buffers that the options
    /// require, plus those of two more canvases for an animation that the options include.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, like ``inspect(_:limits:)``.
    package func decodingByteCount(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let structure = try structure(of: data, limits: options.limits)
        let frame = structure.frames.map { structure.byteCount(of: $0, options) }.max() ?? 0
        guard structure.frames.count > 1, options.includesAnimation else { return frame }
        return frame + 2 * (PixelBuffer.byteCount(size: structure.canvas, format: .rgba8) ?? 0)
    }

    private func structure(of data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> GIFStructure {
        var parser = GIFParser(limits: limits)
        try data.withDecoderInput(of: "GIF") { bytes throws(ImageDecodingError) in try parser.advance(bytes) }
        try parser.requireEnd()
        guard let structure = parser.structure else {
            throw ImageDecodingError(.truncated, "GIF: the header is missing")
        }
        return structure
    }
}

extension CodecRegistry.Entry {
    /// GIF of both versions, still and animated. The format is recognized by the signature of either version, `GIF87a`
    /// or `GIF89a`.
    ///
    /// ```swift
    /// let image = try CodecRegistry([.gif]).decode(data)
    /// ```
    ///
    /// The result is RGBA8, regardless of the requested pixel format. Without a target size, it has the canvas's size.
    /// Frames are clipped to the canvas. Where no frame shows an opaque pixel, the canvas is transparent black, as in
    /// browsers, regardless of the file's background color. Indices beyond the palette are opaque black, except for the
    /// transparent index. At full size, straight and premultiplied samples are equal, because GIF has no partial
    /// transparency. For a target size, the image is averaged down by a whole-number factor, so the result can be
    /// larger than the target.
    public static var gif: Self {
        Self(
            format: .gif, decoder: GIFDecoder(),
            signatures: ["GIF87a", "GIF89a"].map { Array($0.utf8) },
            makeEncoder: { _ in GIFEncoder(keepsShortDelays: true) }
        )
    }
}

/// A stream that sends the rows of one image, from top to bottom, to a consumer whose `begin` has been called.
private struct GIFRowStream {
    private let frame: GIFFrame
    private let structure: GIFStructure

    init(_ frame: GIFFrame, _ structure: GIFStructure) {
        self.frame = frame
        self.structure = structure
    }

    func send(_ data: Data, to consumer: any PixelRowConsumer) throws {
        var row = [UInt8](repeating: 0, count: frame.size.width * 4)
        try data.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            let palette = GIFPalette(of: frame, in: structure, bytes)
            let decoder = try GIFRowDecoder(frame, codeSize: bytes[frame.dataStart])
            while let next = try decoder.next(bytes) {
                try row.withUnsafeMutableBytes { row in
                    guard let base = row.baseAddress else { return }
                    palette.write(next.indices, count: frame.size.width, to: base)
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
                }
            }
            guard decoder.isComplete else { throw ImageDecodingError(.truncated, "GIF: the data ends within an image") }
        }
        try consumer.finish()
    }
}
