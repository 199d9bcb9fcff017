import AlcedoCore
private import CPNGShim

/// One frame of an animated PNG: the contents of its `fcTL` chunk and the position of its compressed pixels.
///
/// Source: W3C PNG specification, third edition, sections 11.3.6.2 and 11.3.6.3.
struct PNGFrame {
    /// The number of bytes in the body of an `fcTL` chunk.
    static let controlByteCount = 26

    let control: AnimationFrame
    /// The positions of the frame's compressed pixels in the file, without sequence numbers.
    var data: [Range<Int>] = []

    /// Reads an `fcTL` chunk, whose length the caller has checked.
    ///
    /// - Throws: `corrupt` when the frame is empty or not inside the canvas, or its disposal or blending is undefined.
    init(
        _ chunk: PNGChunk, in bytes: PNGBytes, canvas: PixelSize, isFirst: Bool, isOpaque: Bool
    ) throws(ImageDecodingError) {
        func number(_ offset: Int, bytes count: Int = 4) -> Int {
            bytes.bigEndian(at: chunk.body.lowerBound + offset, bytes: count)
        }
        let area = PixelRect(x: number(12), y: number(16), width: number(4), height: number(8))
        guard area.size.isPositive, area.clipped(to: canvas) == area else {
            throw ImageDecodingError(.corrupt, "PNG: a frame of \(area) is outside the canvas of \(canvas)")
        }
        let disposals: [FrameDisposal] = [.keep, .clear, .restore]
        let blends: [FrameBlend] = [.source, .over]
        let (disposal, blend) = (number(24, bytes: 1), number(25, bytes: 1))
        guard disposals.indices.contains(disposal), blends.indices.contains(blend) else {
            throw ImageDecodingError(.corrupt, "PNG: a frame has the invalid disposal \(disposal) or blending \(blend)")
        }
        let denominator = number(22, bytes: 2)
        control = AnimationFrame(
            area: area,
            rawDelay: .nanoseconds(number(20, bytes: 2) * 1_000_000_000 / (denominator == 0 ? 100 : denominator)),
            // Before the first frame there is nothing to restore.
            disposal: isFirst && disposals[disposal] == .restore ? .clear : disposals[disposal],
            blend: blends[blend], isOpaque: isOpaque)
    }
}

/// A frame of an animation as a separate PNG file, because libpng does not support animations.
///
/// The pixels are not copied: the file consists of parts of the original file with a few bytes in between. The
/// checksums of the pixel chunks are not computed, because the checksums of the original chunks have already been
/// verified.
struct PNGFrameFile {
    /// The bytes before, between and after the parts of the original file.
    private let glue: [UInt8]
    private let frame: PNGFrame
    private let colors: [PNGChunk]
    private let header: Int

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - start: The beginning of the original file. Its header determines the pixel type of every frame.
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

    /// Passes the parts of the file to `body`. Throws the error that `body` throws.
    func withParts<Result>(
        of bytes: PNGBytes, _ body: ([PNGBytes]) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try glue.withUnsafeBufferPointer { glue throws(ImageDecodingError) in
            var parts = [glue.part(0..<header)] + colors.map { bytes.part($0.range) }
            var offset = header
            for data in frame.data {
                parts.append(glue.part(offset..<offset + PNGChunk.headerByteCount))
                offset += PNGChunk.headerByteCount
                // The checksum can have any value, because libpng is configured to ignore it.
                parts += [bytes.part(data), glue.part(0..<4)]
            }
            return try body(parts + [glue.part(offset..<glue.count)])
        }
    }

    /// Returns a chunk with its length and its checksum.
    static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + body
        let checksum = checked.withUnsafeBufferPointer { alcedo_png_crc($0.baseAddress, $0.count) }
        return bigEndian(body.count) + checked + bigEndian(Int(checksum))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
