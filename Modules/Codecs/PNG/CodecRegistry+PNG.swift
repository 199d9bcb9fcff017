public import AlcedoCore

extension CodecRegistry.Entry {
    /// PNG, recognised by its eight-byte signature.
    public static var png: Self {
        Self(
            format: .png, decoder: PNGDecoder(),
            signatures: [FormatSignature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])],
            makeEncoder: { _ in PNGEncoder() })
    }
}
