public import AlcedoCore
package import FoundationEssentials

/// The decoder of `CodecRegistry.Entry.gif`.
///
/// This module reads and writes blocks and codes itself. giflib rejects palette indices of more than 8 bits, accepts
/// invalid codes, and cannot decode piece by piece; its encoder needs more bytes, because it ties the size of codes to
/// the palette. Source: CompuServe, "Graphics Interchange Format, Version 89a", 1990.
package struct GIFDecoder: ImageDecoding {
    /// Creates a stateless decoder.
    package init() {}

    /// Reads all blocks without decoding pixels, except those of a last frame without an end. O(blocks and sub-blocks);
    /// a sub-block of pixel data has at most 255 bytes.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``; `truncated` when the header of the first image is incomplete,
    ///   `exceedsLimit` also for more frames than `limits` allows.
    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try OpenedGIF(data, limits: limits)
    }

    package func makeIncrementalDecoder(options: DecodingOptions) -> any IncrementalImageDecoding {
        IncrementalDecoder(GIFDecodingState(options: options))
    }
}

/// The blocks of a file that has at least a first image.
struct GIFFile {
    let parser: GIFParser
    let structure: GIFStructure

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        var parser = GIFParser(limits: limits)
        try parser.advance(bytes)
        structure = try parser.finish(bytes)
        self.parser = parser
    }
}

/// A GIF whose blocks have been read.
final class OpenedGIF: FileReading {
    let file: OpenedFile<GIFFile>
    let header: ImageHeader

    init(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) {
        file = try OpenedFile(data, of: "GIF", limits: limits) { bytes, limits throws(ImageDecodingError) in
            try GIFFile(bytes, limits: limits)
        }
        header = try file.withFile { file, _ throws(ImageDecodingError) in
            ImageHeader(format: .gif, size: file.structure.canvas)
        }
    }

    func info() throws(ImageDecodingError) -> ImageInfo {
        try file.withFile { file, _ throws(ImageDecodingError) in file.structure.info }
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let parser = try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in file.parser }
        return try GIFDecodingState(file.data, parser, options: options).finish()
    }

    /// Sends the rows of the first frame. They are sent while the frame is decoded if it is not interlaced and fills
    /// the canvas exactly. Otherwise the frame is decoded as a whole first.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let options = options.forRows
        return try file.withFileForRows(options.limits) { file, bytes in
            let structure = file.structure
            let frame = structure.frames[0]
            let isStreamed =
                !frame.isInterlaced && frame.size == structure.canvas && frame.area.covers(structure.canvas)
                && structure.palette(of: frame) != nil
            guard isStreamed, let stream = GIFRowStream(frame, structure, bytes)
            else { return try decode(options).sendRows(to: consumer) }
            let damage = ImageDamage.worst(file.parser.damage, structure.info.metadataDamage)
            try options.check(damage)
            let chain = options.chain(
                from: BoxReduction(from: structure.canvas, towards: options.averagingTarget), to: consumer)
            try chain.begin(
                PixelRowHeader(
                    size: structure.canvas, format: .rgba8,
                    alphaMode: frame.transparentIndex == nil ? .opaque : .straight,
                    colorProfile: structure.sampleProfile))
            return ImageDamage.worst(try stream.send(bytes, options, to: chain), damage)
        }
    }

    /// Returns the number of bytes of the canvas, the pixels of the first frame and the buffers that the options
    /// require. For an animation that the options include, the largest frame counts, and two more canvases.
    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        let structure = try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in file.structure }
        guard structure.frames.count > 1, options.includesAnimation else {
            return structure.byteCount(of: structure.frames[0], options, isOnly: true)
        }
        let frame = structure.frames.map { structure.byteCount(of: $0, options) }.max() ?? 0
        return frame + 2 * (PixelBuffer.byteCount(size: structure.canvas, format: .rgba8) ?? 0)
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
    /// Frames are clipped to the canvas, also a first frame that is larger than it. An empty canvas gets the size of
    /// the first frame. Where no frame shows an opaque pixel, the canvas is transparent black, as in browsers,
    /// regardless of the file's background color. Indices beyond the palette are opaque black, except for the
    /// transparent index. Without a palette, all pixels are transparent. At full size, straight and premultiplied
    /// samples are equal, because GIF has no partial transparency. For a target size, the image is averaged down by a
    /// whole-number factor, so the result can be larger than the target.
    ///
    /// A missing trailer and other bytes after a frame are harmless damage. A later frame that is empty, lies outside
    /// of the screen, exceeds the limits or is cut before its last row is harmless as well: the animation ends before
    /// it. A frame of one pixel without any data is transparent, which is harmless if the screen has one pixel or other
    /// frames follow.
    /// Invalid codes, up to an eighth of missing rows in data with an end mark, and a missing palette are wrong pixels.
    /// Other missing rows of the first frame are missing pixels, and so is any other first frame without data. Damage
    /// in the pixels of a later frame is found when the frame is drawn: more missing rows, or wrong pixels that are not
    /// tolerated, end the animation too.
    public static var gif: Self {
        Self(
            format: .gif, decoder: GIFDecoder(),
            signatures: ["GIF87a", "GIF89a"].map { Array($0.utf8) },
            makeEncoder: { _ in GIFEncoder() }
        )
    }
}

/// A stream that sends the rows of one image, from top to bottom, to a consumer whose `begin` has been called.
private struct GIFRowStream {
    private let width: Int
    private let decoder: GIFRowDecoder
    private let palette: GIFPalette
    /// The pixels of the first row.
    private var row: [UInt8]

    /// Decodes the first row. Returns nil when it cannot be decoded.
    init?(_ frame: GIFFrame, _ structure: GIFStructure, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard frame.dataStart < bytes.count else { return nil }
        width = frame.size.width
        palette = GIFPalette(of: frame, in: structure, bytes)
        decoder = GIFRowDecoder(frame, codeSize: bytes[frame.dataStart])
        row = [UInt8](repeating: 0, count: frame.size.width * 4)
        guard let first = try? decoder.next(bytes) else { return nil }
        write(first.indices, to: &row)
    }

    /// Sends all rows and the end. Returns the damage of the pixels.
    func send(
        _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions, to consumer: any PixelRowConsumer
    ) throws -> ImageDamage? {
        var row = row
        repeat {
            try row.withUnsafeBytes { try consumer.consume(RawSpan(_unsafeBytes: $0)) }
            guard let next = try decoder.next(bytes) else { break }
            write(next.indices, to: &row)
        } while true
        try options.check(decoder.damage)
        try consumer.finish()
        return decoder.damage
    }

    private func write(_ indices: UnsafePointer<UInt8>, to row: inout [UInt8]) {
        row.withUnsafeMutableBytes { row in
            if let base = row.baseAddress { palette.write(indices, count: width, to: base) }
        }
    }
}
