#if HEIF
    import AlcedoCore

    /// A file whose properties have been read, and whose rows can be decoded.
    struct HEIFFile {
        let header: HEIFHeader
        /// The damage that is known before pixels are decoded; nil when none was found.
        let damage: ImageDamage?

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
            let truncation = ImageDecodingError(.truncated, "HEIF: the data ends within the image")
            // The bytes of an image without a length extend to the end of the file.
            let isMissingPixels = header.end > bytes.count || container.isTruncated && header.end == bytes.count
            if isMissingPixels {
                damage = ImageDamage(.missingPixels, truncation)
            } else {
                let endDamage = container.isTruncated ? ImageDamage(.harmless, truncation) : nil
                damage = .worst(.worst(header.damage, endDamage), header.info.metadataDamage)
            }
        }
    }
#endif
