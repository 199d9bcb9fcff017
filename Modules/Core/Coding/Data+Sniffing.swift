import FoundationEssentials

extension Data {
    /// Whether the content begins with a markup tag, after a byte order mark and white space.
    var looksLikeText: Bool {
        let head = prefix(CodecRegistry.sniffedByteCount).drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return head.first == UInt8(ascii: "<") || head.first == UInt8(ascii: "{")
    }
}
