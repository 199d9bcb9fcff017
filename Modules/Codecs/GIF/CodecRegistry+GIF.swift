public import AlcedoCore

extension CodecRegistry.Entry {
    /// GIF, recognised by the signature of either version, `GIF87a` or `GIF89a`.
    public static var gif: Self {
        Self(format: .gif, decoder: GIFDecoder()) {
            $0.contains(Array("GIF87a".utf8)) || $0.contains(Array("GIF89a".utf8))
        }
    }
}
