#if AVIF
    import AlcedoCore

    /// A file whose properties have been read, and whose frames can be decoded.
    struct AVIFFile {
        let reader: AVIFReader
        let header: AVIFHeader
        /// The damage that is known before pixels are decoded; nil when none was found. A sequence whose first frame is
        /// present has no missing pixels.
        let damage: ImageDamage?
        /// Whether EXIF and XMP were read. False when they are damaged or their bytes are missing.
        let readsMetadata: Bool
        /// Whether the end of the file is missing.
        let isTruncated: Bool

        /// Reads the properties from the bytes of a file, or from the beginning of one.
        ///
        /// Damaged metadata, and alpha whose properties or location are damaged, are ignored. `bytes` must outlive the
        /// file.
        ///
        /// - Parameter readsAlpha: Whether the alpha of the file is read. If not, the image is opaque. Default: true.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `exceedsLimit` also for more frames than `limits` allows.
        init(
            _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, threadCount: Int = 1, readsAlpha: Bool = true
        ) throws(ImageDecodingError) {
            var container = AVIFContainer()
            container.advance(bytes)
            try container.check(limits)
            var firstError: ImageDecodingError?
            // Whether libavif needs bytes after the header, such as the layout of a grid.
            var isMissingBytes = false
            for attempt in Attempt.allCases {
                // The alpha of a truncated file may be among the missing bytes.
                let mayBeMissing = firstError?.code == .truncated && container.isTruncated
                if attempt.ignoresAlpha, !readsAlpha || mayBeMissing { continue }
                do throws(ImageDecodingError) {
                    let reader = try AVIFReader(
                        attempt.needsEnd ? bytes : nil, container, limits: limits, threadCount: threadCount,
                        readsMetadata: attempt.readsMetadata, readsAlpha: readsAlpha && !attempt.ignoresAlpha)
                    if !attempt.needsEnd { reader.feed(bytes) }
                    let header = try AVIFHeader(reader, container, limits: limits)
                    let firstEnd = (try? reader.dataEnd(frame: 0)) ?? 0
                    let truncation = ImageDecodingError(.truncated, "AVIF: the data ends within the image")
                    let isMissingPixels = firstEnd > UInt64(bytes.count)
                    // If no box is cut off, only the alpha may be outside of the file. The last attempts are for color
                    // that is missing, too.
                    let isTried = attempt.needsEnd && !container.isTruncated
                    if isMissingPixels, isTried, header.hasAlpha || attempt.ignoresAlpha { throw truncation }
                    self.header = header
                    self.reader = reader
                    let end = (try? reader.dataEnd(frame: header.frameCount - 1)) ?? 0
                    isTruncated = container.isTruncated || end > UInt64(bytes.count)
                    readsMetadata = attempt.readsMetadata
                    let found: ImageDamage? =
                        if isMissingPixels {
                            ImageDamage(.missingPixels, truncation)
                        } else if attempt.ignoresAlpha || readsAlpha && container.declaresAlpha && !header.hasAlpha {
                            AVIFFile.alphaDamage
                        } else if let error = isTruncated ? truncation : firstError {
                            ImageDamage(.harmless, error)
                        } else if container.itemEnd > UInt64(bytes.count) {
                            ImageDamage(.harmless, ImageDecodingError(.corrupt, "AVIF: an item is outside of the file"))
                        } else {
                            nil
                        }
                    damage = .worst(found, header.info.metadataDamage)
                    return
                } catch {
                    if error.code == .outOfMemory || error.code == .exceedsLimit { throw error }
                    if firstError == nil { firstError = error }
                    isMissingBytes = !attempt.needsEnd && error.code == .truncated
                }
            }
            throw container.error(firstError, isMissingBytes: isMissingBytes, limits)
        }

        private enum Attempt: CaseIterable {
            case everything
            case withoutMetadata
            case withoutAlpha
            case withoutMetadataAndAlpha
            /// Reads the properties of a file whose end is missing.
            case withoutEnd
            case withoutEndAndMetadata

            var needsEnd: Bool { self != .withoutEnd && self != .withoutEndAndMetadata }
            var readsMetadata: Bool { self == .everything || self == .withoutAlpha || self == .withoutEnd }
            var ignoresAlpha: Bool { self == .withoutAlpha || self == .withoutMetadataAndAlpha }
        }

        /// The damage of an image that is opaque because its alpha is damaged.
        static let alphaDamage = ImageDamage(
            .harmless, ImageDecodingError(.corrupt, "AVIF: the alpha of the image is damaged"))

        /// Throws `exceedsLimit` for an image that exceeds the limits in a pixel format, and for a grid whose tiles
        /// take more than twice the limit of bytes. Tiles may be larger than the part of them that is shown.
        func check(_ limits: DecodingLimits, format: PixelFormat) throws(ImageDecodingError) {
            try limits.check(header.codedSize, format: format)
            guard header.declaredTileByteCount / 2 <= limits.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "AVIF: tiles of \(header.declaredTileByteCount) bytes exceed twice the limit of "
                        + "\(limits.maximumByteCount) bytes (DecodingLimits.maximumByteCount)")
            }
        }

        /// Returns the number of frames, from the first, whose bytes are present. O(frames × log frames).
        func availableFrameCount(byteCount: Int) -> Int {
            var (low, high) = (0, header.frameCount)
            // Data ends later for a later frame.
            while low < high {
                let middle = (low + high) / 2
                let end = (try? reader.dataEnd(frame: middle)) ?? UInt64.max
                if end <= UInt64(byteCount) { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    extension AVIFContainer {
        /// Throws `corrupt` for a file of another format, and `exceedsLimit` for a grid of grids, and for more
        /// frames, coded items or entries of tables than are read. libavif allocates memory for all of them.
        func check(_ limits: DecodingLimits) throws(ImageDecodingError) {
            // libavif also reads boxes before the brands, which this type does not.
            guard !isForeign else { throw ImageDecodingError(.corrupt, "AVIF: the file has no brand of AVIF") }
            guard tables.entryCount <= AVIFTables.maximumEntryCount else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "AVIF: \(tables.entryCount) entries of tables exceed the limit of \(AVIFTables.maximumEntryCount)")
            }
            guard !hasGridOfGrids else {
                throw ImageDecodingError(.exceedsLimit, "AVIF: a grid of grids exceeds the limit of one level")
            }
            for track in tracks where track.isAV1 {
                try limits.check(frameCount: max(track.sampleCount, track.runCount))
            }
            let maximum = min(Self.maximumItemCount, max(8, limits.maximumByteCount / Self.itemByteCount))
            guard itemCount <= maximum else {
                let name = maximum < Self.maximumItemCount ? " (DecodingLimits.maximumByteCount)" : ""
                throw ImageDecodingError(
                    .exceedsLimit, "AVIF: \(itemCount) coded items exceed the limit of \(maximum)\(name)")
            }
        }

        /// Returns the error of a file that libavif cannot read.
        func error(
            _ cause: ImageDecodingError?, isMissingBytes: Bool, _ limits: DecodingLimits
        ) -> ImageDecodingError {
            if let largestSize, largestSize.pixelCount > limits.maximumPixelCount {
                return ImageDecodingError(
                    .exceedsLimit,
                    "\(largestSize) pixels exceed the limit of \(limits.maximumPixelCount) pixels "
                        + "(DecodingLimits.maximumPixelCount)")
            }
            guard !isTruncated, !isMissingBytes else {
                return ImageDecodingError(.truncated, "AVIF: the data ends within the header")
            }
            return cause ?? ImageDecodingError(.corrupt, "AVIF: cannot read the file")
        }
    }
#endif
