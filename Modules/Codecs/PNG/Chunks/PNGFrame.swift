import AlcedoCore
private import CPNGShim

/// One frame of an animated PNG: what its `fcTL` says and where its compressed pixels are.
///
/// Source: W3C PNG specification, third edition, sections 11.3.6.2 and 11.3.6.3.
struct PNGFrame {
    /// Bytes of an `fcTL`.
    static let controlByteCount = 26

    let control: AnimationFrame
    /// The bodies of `IDAT`, or of `fdAT` without their numbers.
    var data: [Range<Int>] = []

    /// Reads a chunk of the right length.
    ///
    /// - Throws: `corrupt` when the frame is not inside the canvas, or asks for what does not exist.
    init(
        _ chunk: PNGChunk, in bytes: PNGBytes, canvas: PixelSize, isFirst: Bool, isOpaque: Bool
    ) throws(ImageDecodingError) {
        func number(_ offset: Int, bytes count: Int = 4) -> Int {
            bytes.bigEndian(at: chunk.body.lowerBound + offset, bytes: count)
        }
        let area = PixelRect(x: number(12), y: number(16), width: number(4), height: number(8))
        guard area.size.isPositive, area.clipped(to: canvas) == area else {
            throw ImageDecodingError(.corrupt, "PNG: a frame of \(area) is not inside the canvas of \(canvas)")
        }
        let disposals: [FrameDisposal] = [.keep, .clear, .restore]
        let blends: [FrameBlend] = [.source, .over]
        let (disposal, blend) = (number(24, bytes: 1), number(25, bytes: 1))
        guard disposals.indices.contains(disposal), blends.indices.contains(blend) else {
            throw ImageDecodingError(.corrupt, "PNG: a frame asks for disposal \(disposal) and blending \(blend)")
        }
        let denominator = number(22, bytes: 2)
        control = AnimationFrame(
            area: area,
            rawDelay: .nanoseconds(number(20, bytes: 2) * 1_000_000_000 / (denominator == 0 ? 100 : denominator)),
            // There is nothing to go back to before the first frame.
            disposal: isFirst && disposals[disposal] == .restore ? .clear : disposals[disposal],
            blend: blends[blend], isOpaque: isOpaque)
    }
}

/// A frame of an animation as a file of its own, which libpng understands: libpng knows nothing of animations.
///
/// The pixels are not copied: the file is made of parts of the real one with a few bytes in between. Checksums of
/// pixels are left open, because those of the real chunks were looked at before.
struct PNGFrameFile {
    /// What lies between the parts: signature, header, the beginning of every chunk of pixels, end.
    private let glue: [UInt8]
    private let frame: PNGFrame
    private let colors: [PNGChunk]
    private let header: Int

    /// - Parameters:
    ///   - start: The header of the real file, whose kind of pixels every frame has.
    ///   - colors: The palette and transparency chunks.
    init(_ frame: PNGFrame, start: PNGBytes, colors: [PNGChunk]) {
        let size = frame.control.area.size
        let head =
            PNGChunk.signature
            + Self.chunk(
                "IHDR", Self.bigEndian(size.width) + Self.bigEndian(size.height) + start.part(24..<29))
        glue =
            frame.data.reduce(into: head) { $0 += Self.bigEndian($1.count) + Array("IDAT".utf8) }
            + Self.chunk("IEND", [])
        header = head.count
        self.frame = frame
        self.colors = colors
    }

    /// Hands the parts of the file to `body`.
    func withParts<Result>(
        of bytes: PNGBytes, _ body: ([PNGBytes]) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try glue.withUnsafeBufferPointer { glue throws(ImageDecodingError) in
            var parts = [glue.part(0..<header)] + colors.map { bytes.part($0.range) }
            var offset = header
            for data in frame.data {
                parts.append(glue.part(offset..<offset + PNGChunk.headerByteCount))
                offset += PNGChunk.headerByteCount
                // The checksum, which libpng was told to pass over, may be any bytes.
                parts += [bytes.part(data), glue.part(0..<4)]
            }
            return try body(parts + [glue.part(offset..<glue.count)])
        }
    }

    /// A chunk with its checksum.
    static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + body
        let checksum = checked.withUnsafeBufferPointer { alcedo_png_crc($0.baseAddress, $0.count) }
        return bigEndian(body.count) + checked + bigEndian(Int(checksum))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
