#if HEIF
    import AlcedoCore

    /// The decoded rows of an alpha image. An alpha of another size is scaled to the image, which takes the nearest
    /// samples, as in libheif. From the first damaged row on, the image is opaque.
    final class AlphaRows {
        private let reader: PictureReader
        /// The size of the alpha image.
        private let size: PixelSize
        /// The size of the image that gets the alpha.
        private let target: PixelSize
        /// The memory of one row of the alpha image, of at most eight bytes per pixel.
        private let row: UnsafeMutableRawPointer
        /// The damage of the alpha image; nil when none was found.
        private(set) var damage: ImageDamage?

        /// Creates the rows for an image of a size. `bytes` must outlive them.
        init(
            _ picture: HEIFPicture, _ bytes: UnsafeBufferPointer<UInt8>, _ time: DecodingTime, for target: PixelSize
        ) {
            reader = PictureReader(picture, bytes, time)
            size = picture.size
            self.target = target
            row = UnsafeMutableRawPointer.allocate(byteCount: 8 * picture.size.width, alignment: 8)
        }

        deinit { row.deallocate() }

        /// Decodes what row `y` of the image needs. Rows must not be requested again after later ones.
        ///
        /// - Returns: The end of the rows of the image that can be converted now.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``.
        func load(_ y: Int) throws(ImageDecodingError) -> Int {
            guard damage == nil else { return target.height }
            do throws(ImageDecodingError) {
                let end = try reader.load(y * size.height / target.height)
                // The first row whose nearest row is not before the end.
                return (end * target.height + size.height - 1) / size.height
            } catch {
                guard error.code == .corrupt || error.code == .unsupportedVariant else { throw error }
                damage = HEIFHeader.alphaDamage
                return target.height
            }
        }

        /// Replaces the alpha of loaded rows of the image, which is opaque. Does nothing after damage.
        func convert(
            _ rows: Range<Int>, to format: PixelFormat, _ memory: UnsafeMutableRawPointer, bytesPerRow: Int
        ) throws(ImageDecodingError) {
            guard damage == nil else { return }
            guard size != target else {
                try reader.convertAlpha(rows, to: format, memory, bytesPerRow: bytesPerRow)
                return
            }
            for y in rows {
                let nearest = y * size.height / target.height
                try reader.convertAlpha(
                    nearest..<nearest + 1, to: format, row, bytesPerRow: size.width * format.bytesPerPixel)
                let output = memory + (y - rows.lowerBound) * bytesPerRow
                if format == .rgba16 { copy(UInt16.self, to: output) } else { copy(UInt8.self, to: output) }
            }
        }

        /// Copies the alpha of the nearest pixels, the last of four samples.
        private func copy<Sample: FixedWidthInteger>(_ type: Sample.Type, to output: UnsafeMutableRawPointer) {
            let samples = row.assumingMemoryBound(to: type)
            let pixels = output.assumingMemoryBound(to: type)
            for x in 0..<target.width { pixels[4 * x + 3] = samples[4 * (x * size.width / target.width) + 3] }
        }
    }
#endif
