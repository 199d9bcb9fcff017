public import AlcedoCore

extension CodecRegistry.Entry {
    /// GIF, recognised by the signature of either version, `GIF87a` or `GIF89a`.
    public static var gif: Self {
        Self(
            format: .gif, decoder: GIFDecoder(),
            signatures: ["GIF87a", "GIF89a"].map { FormatSignature(Array($0.utf8)) }, makeEncoder: { _ in GIFEncoder() }
        )
    }
}
