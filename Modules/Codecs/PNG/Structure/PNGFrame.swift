import AlcedoCore

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
