import FoundationEssentials

extension Data {
    /// Whether the content begins with a markup tag or a JSON object, after a byte order mark and white space.
    var looksLikeText: Bool {
        let skipped: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
        let head = prefix(CodecRegistry.sniffedByteCount).drop { skipped.contains($0) }
        return head.first == UInt8(ascii: "<") || head.first == UInt8(ascii: "{")
    }
}
