#if TIFF
    import AlcedoCore
    import CTIFFShim

    /// The conversion of a page to the rows that the options request: straight, reduced and, at the end, premultiplied.
    /// Rows keep their stored order. Strips and tiles are decoded as they are needed.
    struct TIFFRows {
        private let file: TIFFFile
        private let options: DecodingOptions

        init(_ file: TIFFFile, _ options: DecodingOptions) {
            self.file = file
            self.options = options
        }

        /// Returns the image without missing pixels.
        ///
        /// - Throws: The error of damage that the options do not tolerate.
        func image() throws(ImageDecodingError) -> DecodedImage {
            var damage: ImageDamage?
            return try image { consumer in
                damage = try send(to: consumer)
            }.with(damage)
        }

        /// Returns the image of a damaged page, whose missing pixels are transparent. Returns nil when no row can be
        /// decoded.
        ///
        /// - Parameter error: The error that prevents a whole image.
        func partialImage(_ error: ImageDecodingError) throws(ImageDecodingError) -> DecodedImage? {
            let reader = try file.makeReader()
            var rowCount = 0
            let image = try image { consumer in
                rowCount = try send(reader, isPartial: true, to: consumer)
            }
            return rowCount > 0 ? image.with(ImageDamage(.missingPixels, error)) : nil
        }

        private func image(
            _ send: (any PixelRowConsumer) throws -> Void
        ) throws(ImageDecodingError) -> DecodedImage {
            guard var image = try PixelRowCollector.image(send) else {
                throw ImageDecodingError(.corrupt, "TIFF: the file has no rows")
            }
            image.format = .tiff
            guard options.appliesOrientation, image.orientation != .up else { return image }
            image.reduction = image.reduction?.upright(from: image.orientation, size: image.size)
            image.pixels = try image.pixels.upright(from: image.orientation)
            image.orientation = .up
            return image
        }

        /// Sends all rows and the end to a consumer.
        ///
        /// - Returns: The worst damage that the options tolerate.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        func send(to consumer: any PixelRowConsumer) throws -> ImageDamage? {
            try send(file.reader, isPartial: false, to: consumer)
            return .worst(file.reader.damage, file.damage)
        }

        /// Sends the rows, and the end unless there is damage that is not tolerated.
        ///
        /// - Parameter isPartial: Whether pixels that cannot be decoded are sent as transparent ones.
        /// - Returns: The number of rows of which at least a part was decoded.
        @discardableResult
        private func send(
            _ reader: TIFFReader, isPartial: Bool, to consumer: any PixelRowConsumer
        ) throws -> Int {
            let hasInks = file.keepsInks(options)
            // Missing pixels are transparent, which gray ones cannot be.
            let format = isPartial ? file.format(options).colored : file.format(options)
            let info = file.info
            let hasProfile = info.colorModel != .cmyk || hasInks
            // The fourth ink is not alpha, by which the others would be weighted and multiplied.
            let isUnchanged = hasInks && isPartial
            let missing = isUnchanged && options.alphaMode == .premultiplied ? AlphaMode.premultiplied : .straight
            var header = PixelRowHeader(
                size: info.size, format: format, alphaMode: info.hasAlpha || isPartial ? missing : .opaque,
                colorProfile: hasProfile ? info.sampleProfile : nil, orientation: info.orientation)
            header.hasInks = hasInks
            let reduction = BoxReduction(
                from: info.size, orientation: info.orientation, towards: options.averagingTarget)
            let chain = isUnchanged ? consumer : options.chain(from: reduction, to: consumer)
            try reader.start(hasInks ? ALCEDO_TIFF_INKS : format.tiff)
            try chain.begin(header)
            var row = [UInt8](repeating: 0, count: header.bytesPerRow)
            var rowCount = 0
            for _ in 0..<info.size.height {
                let state = try row.withUnsafeMutableBytes { row in
                    let state = try reader.readRow(into: row)
                    guard state == ALCEDO_TIFF_WHOLE || isPartial else {
                        throw reader.damage?.error ?? ImageDecodingError(.corrupt, "TIFF: pixels are missing")
                    }
                    if file.isPremultiplied { AlphaArithmetic.unpremultiply(row, format) }
                    try chain.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
                    return state
                }
                if state != ALCEDO_TIFF_MISSING { rowCount += 1 }
            }
            if !isPartial { try options.check(reader.damage) }
            try chain.finish()
            return rowCount
        }
    }

    extension DecodedImage {
        /// Returns the image with damage.
        fileprivate func with(_ damage: ImageDamage?) -> DecodedImage {
            var image = self
            image.damage = damage
            return image
        }
    }
#endif
