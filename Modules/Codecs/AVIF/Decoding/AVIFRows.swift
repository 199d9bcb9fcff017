#if AVIF
    import AlcedoCore

    /// The conversion of a decoded frame to the rows that the options request: cropped, straight, reduced and, at the
    /// end, premultiplied. Rows keep their stored order.
    struct AVIFRows {
        private let reader: AVIFReader
        private let header: AVIFHeader
        private let options: DecodingOptions
        private let reduction: BoxReduction

        /// The maximum number of bytes of the rows that are converted at once.
        private static let maximumStripByteCount = 1 << 20

        init(_ reader: AVIFReader, _ header: AVIFHeader, options: DecodingOptions) {
            self.reader = reader
            self.header = header
            self.options = options
            reduction = BoxReduction(
                from: header.crop.size, orientation: header.orientation, towards: options.averagingTarget)
        }

        /// Returns the pixels of the frame.
        ///
        /// - Parameter isOpaque: Whether every pixel is known to be opaque.
        func pixels(isOpaque: Bool) throws(ImageDecodingError) -> PixelBuffer {
            let isWhole = reduction.factor == 1 && header.crop.covers(header.codedSize)
            guard isWhole else { return try collected { consumer in try send(isOpaque: isOpaque, to: consumer) } }
            let size = header.codedSize
            let format = header.format(for: options.pixelFormat)
            let alphaMode: AlphaMode =
                isOpaque ? .opaque : options.alphaMode == .premultiplied ? .premultiplied : .straight
            let pixels = try PixelBuffer(size: size, format: format, alphaMode: alphaMode) {
                (memory, stride) throws(ImageDecodingError) in
                guard let base = memory.baseAddress else { return }
                try reader.convert(0..<size.height, to: format, base, bytesPerRow: stride)
                guard !isOpaque else { return }
                for y in 0..<size.height {
                    let row = UnsafeMutableRawBufferPointer(
                        start: base + y * stride, count: size.width * format.bytesPerPixel)
                    if header.isPremultiplied { AlphaArithmetic.unpremultiply(row, format) }
                    if alphaMode == .premultiplied { AlphaArithmetic.premultiply(row, format) }
                }
            }
            guard let pixels else { throw ImageDecodingError.noMemory(for: size) }
            return pixels
        }

        /// Returns the pixels of a frame of which only the first rows are decoded. Other rows are transparent.
        func partialPixels(rowCount: Int) throws(ImageDecodingError) -> PixelBuffer {
            try collected { consumer in try send(isOpaque: false, rowCount: rowCount, to: consumer) }
        }

        /// Sends all rows and the end to a consumer.
        ///
        /// - Parameters:
        ///   - isOpaque: Whether every pixel is known to be opaque.
        ///   - rowCount: The number of decoded rows of the coded image. Other rows are transparent. By default all rows
        ///     are decoded.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        func send(isOpaque: Bool, rowCount: Int? = nil, to consumer: any PixelRowConsumer) throws {
            let (crop, width) = (header.crop, header.codedSize.width)
            // Missing rows are transparent, which gray rows cannot be.
            let requested = header.format(for: options.pixelFormat)
            let format = rowCount == nil ? requested : requested.colored
            let bytesPerRow = width * format.bytesPerPixel
            let chain = options.chain(from: reduction, to: consumer)
            try chain.begin(
                PixelRowHeader(
                    size: crop.size, format: format, alphaMode: isOpaque ? .opaque : .straight,
                    colorProfile: header.sampleProfile, orientation: header.orientation))
            let stripHeight = max(2, min(64, Self.maximumStripByteCount / bytesPerRow) & ~1)
            var strip = [UInt8](repeating: 0, count: stripHeight * bytesPerRow)
            let visible = crop.x * format.bytesPerPixel..<(crop.x + crop.size.width) * format.bytesPerPixel
            let end = crop.y + crop.size.height
            var y = crop.y
            while y < end {
                let rows = y..<min(end, y + stripHeight)
                let decoded = rows.clamped(to: 0..<max(0, rowCount ?? end))
                try strip.withUnsafeMutableBytes { memory in
                    guard let base = memory.baseAddress else { return }
                    if decoded.count < rows.count { memory.initializeMemory(as: UInt8.self, repeating: 0) }
                    if !decoded.isEmpty { try reader.convert(decoded, to: format, base, bytesPerRow: bytesPerRow) }
                    for index in 0..<rows.count {
                        let row = UnsafeMutableRawBufferPointer(
                            rebasing: memory[index * bytesPerRow..<(index + 1) * bytesPerRow])
                        if header.isPremultiplied { AlphaArithmetic.unpremultiply(row, format) }
                        try chain.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: row[visible])))
                    }
                }
                y = rows.upperBound
            }
            try chain.finish()
        }

        private func collected(
            _ send: (any PixelRowConsumer) throws -> Void
        ) throws(ImageDecodingError) -> PixelBuffer {
            guard let image = try PixelRowCollector.image(send) else {
                throw ImageDecodingError(.corrupt, "AVIF: the file has no rows")
            }
            return image.pixels
        }
    }

    extension AVIFReader {
        /// Whether every pixel of the decoded frame is opaque. Frames of a sequence are opaque only without alpha, so
        /// that all of them have the same alpha mode.
        func isOpaque(_ header: AVIFHeader) -> Bool { !header.hasAlpha || header.frameCount == 1 && !isTransparent }
    }
#endif
