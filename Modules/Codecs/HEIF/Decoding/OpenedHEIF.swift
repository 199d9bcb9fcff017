#if HEIF
    import AlcedoCore
    import FoundationEssentials

    /// A HEIF whose boxes have been read. The metadata of a file whose end is missing may be missing.
    final class OpenedHEIF: FileReading {
        let file: OpenedFile<HEIFFile>
        private let limits: DecodingLimits
        private let timeLimit: Duration
        let properties: HEIFHeader
        let header: ImageHeader

        init(_ data: Data, limits: DecodingLimits, timeLimit: Duration) throws(ImageDecodingError) {
            self.limits = limits
            self.timeLimit = timeLimit
            file = try OpenedFile(data, of: "HEIF", limits: limits) { bytes, limits throws(ImageDecodingError) in
                // The pixels of gray8 are the smallest. Decoding checks those that are requested.
                try HEIFFile(bytes, limits: limits, format: .gray8)
            }
            properties = try file.withFile { file, _ throws(ImageDecodingError) in file.header }
            header = ImageHeader(properties.info)
        }

        /// Returns the properties.
        ///
        /// - Throws: `truncated` when both the pixels and the metadata are incomplete; `exceedsLimit`.
        func info() throws(ImageDecodingError) -> ImageInfo {
            try file.withFile { file, _ throws(ImageDecodingError) in
                try file.header.check(limits, format: file.header.format(for: .rgba8))
                if file.header.isMissingMetadata, let damage = file.damage, damage.kind == .missingPixels {
                    throw damage.error
                }
                return file.header.info
            }
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            try file.withFile(options.limits) { file, bytes throws(ImageDecodingError) in
                try file.header.check(options.limits, format: file.header.format(for: options.pixelFormat))
                let time = DecodingTime(timeLimit)
                do throws(ImageDecodingError) {
                    return try wholeImage(file, bytes, options, time)
                } catch {
                    guard options.allows(error),
                        let part = try HEIFRows(file.header, bytes, options: options, time: time).partialPixels()
                    else { throw error }
                    var image = try file.header.image(part.pixels, options)
                    image.damage = ImageDamage(.missingPixels, error)
                    return image
                }
            }
        }

        /// Returns an image without missing pixels, to which the gain map is applied if the options request it.
        private func wholeImage(
            _ file: HEIFFile, _ bytes: UnsafeBufferPointer<UInt8>, _ options: DecodingOptions, _ time: DecodingTime
        ) throws(ImageDecodingError) -> DecodedImage {
            try options.forRows.check(file.damage)
            let (map, mapDamage) = try HEIFGainMap.decode(file.header, bytes, options, time)
            let imageOptions = map == nil ? options : options.forGainMap
            let rows = HEIFRows(file.header, bytes, options: imageOptions, time: time)
            var image = try file.header.image(rows.pixels(), imageOptions)
            if let map { image = try map.applied(to: image, options) }
            image.damage = .worst(.worst(rows.damage, file.damage), mapDamage)
            try options.check(image.damage)
            return image
        }

        /// Sends the rows of the image while rows of tiles are decoded. Rotated and mirrored images are decoded as a
        /// whole.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``, and the errors of the consumer.
        func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
            let options = options.forRows
            return try file.withFileForRows(options.limits) { file, bytes in
                try file.header.check(options.limits, format: file.header.format(for: options.pixelFormat))
                let time = DecodingTime(timeLimit)
                guard !options.appliesOrientation || file.header.orientation == .up else {
                    return try wholeImage(file, bytes, options, time).sendRows(to: consumer)
                }
                try options.check(file.damage)
                let (map, mapDamage) = try HEIFGainMap.decode(file.header, bytes, options, time)
                let rows = HEIFRows(
                    file.header, bytes, options: map == nil ? options : options.forGainMap, time: time)
                try rows.send(to: map.map { GainMapRows($0, next: consumer) } ?? consumer)
                return .worst(.worst(rows.damage, file.damage), mapDamage)
            }
        }

        /// Returns the maximum number of bytes that decoding holds: the planes of a coded picture, those of a row of
        /// tiles, the output, and the upright image when it is rotated. A gain map that is applied, and the HDR image,
        /// are added.
        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            try file.withFile(options.limits) { file, bytes throws(ImageDecodingError) in
                try file.header.check(options.limits, format: file.header.format(for: options.pixelFormat))
                if let map = try HEIFGainMap.find(file.header, bytes, options).map {
                    return map.byteCount(file.header, options)
                }
                return file.header.byteCount(options, isIncremental: false)
            }
        }
    }

    extension HEIFHeader {
        /// Returns the maximum number of bytes that decoding holds.
        func byteCount(_ options: DecodingOptions, isIncremental: Bool) -> Int {
            let format = format(for: options.pixelFormat)
            let output = PixelBuffer.byteCount(size: decodedSize(options), format: format) ?? 0
            var stored = options
            stored.appliesOrientation = false
            let isRotated = options.appliesOrientation && orientation != .up
            let rotated = isRotated ? PixelBuffer.byteCount(size: decodedSize(stored), format: format) ?? 0 : 0
            // Rows that are converted and reduced at once, and the samples of one.
            let strips = 4 << 20 + 32 * codedSize.width
            let planes = picture.byteCount + (alpha?.byteCount ?? 0)
            return planes + output + rotated + strips + (isIncremental ? output : 0)
        }
    }
#endif
