#if HEIF
    import AlcedoCore

    /// A file whose properties have been read, and whose rows can be decoded.
    struct HEIFFile {
        let header: HEIFHeader
        /// The error that a complete file with these bytes has, or nil.
        let damage: ImageDecodingError?

        /// Reads the properties from the bytes of a file, or from the beginning of one, and checks the limits.
        ///
        /// - Parameter format: The requested format of pixels, to which the limits apply.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the boxes with the properties are incomplete.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, format: PixelFormat
        ) throws(ImageDecodingError) {
            let container = HEIFContainer(bytes)
            guard container.hasHeader else { throw container.error() }
            header = try HEIFHeader(container, bytes, limits: limits)
            try header.check(limits, format: header.format(for: format))
            let isTruncated = container.isTruncated || header.end > bytes.count
            damage = isTruncated ? ImageDecodingError(.truncated, "HEIF: the data ends within the image") : nil
        }
    }
#endif
