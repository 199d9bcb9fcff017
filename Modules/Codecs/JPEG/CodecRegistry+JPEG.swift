public import AlcedoCore

extension CodecRegistry.Entry {
    /// JPEG, recognised by its start-of-image marker and the marker that follows it.
    public static var jpeg: Self {
        Self(format: .jpeg, decoder: JPEGDecoder(), signatures: [FormatSignature([0xFF, 0xD8, 0xFF])])
    }
}
