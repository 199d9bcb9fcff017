#if HEIF
    import AlcedoCore

    /// The conversion of an image to the rows that the options request: cropped, straight, reduced and, at the end,
    /// premultiplied. Rows keep their stored order. Rows of tiles are decoded when they are needed.
    struct HEIFRows {
        private let color: PictureReader
        private let alpha: AlphaRows?
        private let header: HEIFHeader
        private let options: DecodingOptions
        private let reduction: BoxReduction
        private let format: PixelFormat

        /// The maximum number of bytes of the rows that are converted at once.
        private static let maximumStripByteCount = 1 << 20

        /// The damage of the alpha that has been decoded so far; nil when none was found.
        var damage: ImageDamage? { alpha?.damage }

        /// Creates the rows of a file. `bytes` must outlive them. The rows can be requested once.
        init(
            _ header: HEIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, options: DecodingOptions, time: DecodingTime
        ) {
            color = PictureReader(header.picture, bytes, time)
            alpha = header.alpha.map { AlphaRows($0, bytes, time, for: header.codedSize) }
            self.header = header
            self.options = options
            reduction = BoxReduction(
                from: header.crop.size, orientation: header.orientation, towards: options.averagingTarget)
            format = header.format(for: options.pixelFormat)
        }

        func pixels() throws(ImageDecodingError) -> PixelBuffer {
            let isWhole = reduction.factor == 1 && header.crop.covers(header.codedSize)
            guard isWhole else { return try collected { consumer in try send(to: consumer) } }
            let size = header.codedSize
            let alphaMode: AlphaMode =
                alpha == nil ? .opaque : options.alphaMode == .premultiplied ? .premultiplied : .straight
            let pixels = try PixelBuffer(size: size, format: format, alphaMode: alphaMode) {
                (memory, stride) throws(ImageDecodingError) in
                guard let base = memory.baseAddress else { return }
                var y = 0
                while y < size.height {
                    let rows = y..<min(size.height, try load(y))
                    try convert(rows, format, base + y * stride, bytesPerRow: stride)
                    for index in rows where alphaMode == .premultiplied {
                        let row = UnsafeMutableRawBufferPointer(
                            start: base + index * stride, count: size.width * format.bytesPerPixel)
                        AlphaArithmetic.premultiply(row, format)
                    }
                    y = rows.upperBound
                }
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            return pixels
        }

        /// Returns the pixels of a damaged or truncated image, or nil when no row can be decoded. Missing rows are
        /// transparent.
        ///
        /// - Throws: `outOfMemory`.
        func partialPixels() throws(ImageDecodingError) -> (pixels: PixelBuffer, rowCount: Int)? {
            var rowCount = 0
            let pixels = try collected { consumer in rowCount = try send(to: consumer, isPartial: true) }
            return rowCount > 0 ? (pixels, rowCount) : nil
        }

        /// Sends all rows and the end to a consumer.
        ///
        /// - Parameter isPartial: Whether rows from the first damaged one on are sent as transparent rows.
        /// - Returns: The number of decoded rows of the visible image.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        @discardableResult
        func send(to consumer: any PixelRowConsumer, isPartial: Bool = false) throws -> Int {
            let crop = header.crop
            // Missing rows are transparent, which gray rows cannot be.
            let format = isPartial && self.format.isGray ? self.format.colored : self.format
            let bytesPerRow = header.codedSize.width * format.bytesPerPixel
            let chain = options.chain(from: reduction, to: consumer)
            try chain.begin(
                PixelRowHeader(
                    size: crop.size, format: format, alphaMode: alpha == nil && !isPartial ? .opaque : .straight,
                    colorProfile: header.sampleProfile, orientation: header.orientation))
            let stripHeight = max(1, min(64, Self.maximumStripByteCount / bytesPerRow))
            var strip = [UInt8](repeating: 0, count: stripHeight * bytesPerRow)
            let visible = crop.x * format.bytesPerPixel..<(crop.x + crop.size.width) * format.bytesPerPixel
            let end = crop.y + crop.size.height
            var y = crop.y
            var loadedEnd = y
            var firstMissingRow: Int?
            while y < end {
                if y >= loadedEnd, firstMissingRow == nil {
                    do throws(ImageDecodingError) { loadedEnd = try min(end, load(y)) } catch {
                        guard isPartial, error.code != .outOfMemory, error.code != .decoderUnavailable else {
                            throw error
                        }
                        firstMissingRow = y
                    }
                }
                let rows = y..<min(firstMissingRow == nil ? loadedEnd : end, y + stripHeight)
                try strip.withUnsafeMutableBytes { memory in
                    guard let base = memory.baseAddress else { return }
                    if firstMissingRow == nil {
                        try convert(rows, format, base, bytesPerRow: bytesPerRow)
                    } else {
                        memory.initializeMemory(as: UInt8.self, repeating: 0)
                    }
                    for index in 0..<rows.count {
                        let start = index * bytesPerRow
                        let row = UnsafeRawBufferPointer(
                            rebasing: memory[start + visible.lowerBound..<start + visible.upperBound])
                        try chain.consume(RawSpan(_unsafeBytes: row))
                    }
                }
                y = rows.upperBound
            }
            if !isPartial { try options.check(damage) }
            try chain.finish()
            return (firstMissingRow ?? end) - crop.y
        }

        /// Decodes what row `y` needs. Returns the end of the rows that can be converted.
        private func load(_ y: Int) throws(ImageDecodingError) -> Int {
            let end = try color.load(y)
            guard let alpha else { return end }
            return min(end, try alpha.load(y))
        }

        /// Writes loaded rows of the full width with straight alpha.
        private func convert(
            _ rows: Range<Int>, _ format: PixelFormat, _ memory: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(ImageDecodingError) {
            try color.convert(rows, to: format, memory, bytesPerRow: bytesPerRow)
            guard let alpha else { return }
            try alpha.convert(rows, to: format, memory, bytesPerRow: bytesPerRow)
            guard header.isPremultiplied else { return }
            for index in 0..<rows.count {
                let row = UnsafeMutableRawBufferPointer(
                    start: memory + index * bytesPerRow, count: header.codedSize.width * format.bytesPerPixel)
                AlphaArithmetic.unpremultiply(row, format)
            }
        }

        private func collected(
            _ send: (any PixelRowConsumer) throws -> Void
        ) throws(ImageDecodingError) -> PixelBuffer {
            guard let image = try PixelRowCollector.image(send) else {
                throw ImageDecodingError(.corrupt, "HEIF: the file has no rows")
            }
            return image.pixels
        }
    }
#endif
