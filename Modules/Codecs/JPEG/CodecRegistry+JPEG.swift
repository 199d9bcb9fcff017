public import AlcedoCore

extension CodecRegistry.Entry {
    /// JPEG, recognised by its start-of-image marker and the marker that follows it. The best quality keeps colours at full
    /// resolution.
    public static var jpeg: Self {
        Self(format: .jpeg, decoder: JPEGDecoder(), signatures: [FormatSignature([0xFF, 0xD8, 0xFF])]) { quality in
            JPEGEncoder(quality: Int((quality * 100).rounded()), subsampling: quality < 1 ? .both : .none)
        }
    }
}
