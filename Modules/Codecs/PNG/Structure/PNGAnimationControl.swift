/// What the chunk `acTL` says. Source: W3C PNG specification, third edition, section 11.3.6.1.
struct PNGAnimationControl {
    let frameCount: Int
    /// 0 is for ever.
    let playCount: Int

    /// nil when the chunk says nothing that makes an animation: another length, or no frames.
    init?(_ chunk: PNGChunk, in bytes: PNGBytes) {
        guard chunk.body.count == 8 else { return nil }
        frameCount = bytes.bigEndian(at: chunk.body.lowerBound)
        playCount = bytes.bigEndian(at: chunk.body.lowerBound + 4)
        guard frameCount > 0 else { return nil }
    }
}
