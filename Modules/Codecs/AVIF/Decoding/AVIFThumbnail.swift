#if AVIF
    import AlcedoBoxes
    import AlcedoCore
    import FoundationEssentials

    /// A thumbnail of the image of a file: an item that refers to the image by `thmb`, for previews.
    ///
    /// libavif decodes no thumbnails. The bytes up to the end of the thumbnail are therefore copied to a file whose
    /// image it is. Sources: ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, section 6.4.4.
    struct AVIFThumbnail {
        /// The maximum number of bytes that are copied.
        private static let maximumByteCount = 4 << 20
        /// The maximum number of bytes that decoding the thumbnail may hold.
        private static let maximumDecodingByteCount = 16 << 20

        /// The offset after the last byte that decoding the thumbnail needs.
        let end: Int
        /// The number of the thumbnail.
        private let number: Int
        /// The offsets of the number of the image in the file.
        private let primary: Range<Int>
        /// The offsets of the type of the reference.
        private let reference: Range<Int>

        /// Finds the first thumbnail. The boxes of the items must be among the bytes.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            guard let meta = BoxSequence(bytes).first(where: { $0.type == "meta" }),
                let image = meta.child("pitm", skipping: 4), let version = image.number(at: 0, 1),
                let references = meta.child("iref", skipping: 4), let locations = meta.child("iloc", skipping: 4)
            else { return nil }
            let byteCount = version == 0 ? 2 : 4
            guard let shown = image.number(at: 4, byteCount) else { return nil }
            let start = image.payload.lowerBound + 4
            primary = start..<start + byteCount
            let numberSize = references.number(at: 0, 1) == 0 ? 2 : 4
            // A file has one or two thumbnails, unless it is to waste time.
            for entry in references.children(skipping: 4).filter({ $0.type == "thmb" }).prefix(4) {
                var reader = entry.reader
                // The type precedes the payload, unless the size of the box has 64 bits.
                let type = entry.payload.lowerBound - 4..<entry.payload.lowerBound
                guard let from = reader.integer(numberSize), let count = reader.integer(2),
                    (0..<count).contains(where: { _ in reader.unsigned(numberSize) == shown }), from != Int(shown),
                    from >> (8 * byteCount) == 0, bytes[type].elementsEqual("thmb".utf8),
                    let end = Self.end(of: from, in: locations)
                else { continue }
                self.end = max(end, meta.payload.upperBound)
                (number, reference) = (from, type)
                if self.end <= Self.maximumByteCount { return }
                return nil
            }
            return nil
        }

        /// Returns the offset after the last byte of an item that is stored in the file, or nil.
        private static func end(of item: Int, in locations: Box) -> Int? {
            var reader = locations.reader
            guard let version = reader.unsigned(4).map({ $0 >> 24 }), let sizes = reader.integer(2) else { return nil }
            let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            let numberSize = version < 2 ? 2 : 4
            guard version <= 2, let count = reader.integer(numberSize) else { return nil }
            for _ in 0..<count {
                guard let number = reader.integer(numberSize), let method = reader.unsigned(version == 0 ? 0 : 2),
                    reader.advance(2), let base = reader.integer(baseSize), let extentCount = reader.integer(2)
                else { return nil }
                var end = 0
                for _ in 0..<extentCount {
                    guard let offset = reader.integer(offsetSize), let length = reader.integer(lengthSize) else {
                        return nil
                    }
                    let isInside = [base, offset, length].allSatisfy { $0 <= maximumByteCount }
                    end = isInside && length > 0 ? max(end, base + offset + length) : .max
                }
                if number == item { return method & 15 == 0 && end > 0 ? end : nil }
            }
            return nil
        }

        /// The maximum number of bytes that ``background(for:_:)`` holds.
        var byteCount: Int { end + Self.maximumDecodingByteCount }

        /// Decodes the thumbnail. Returns nil if it is damaged or too large, and if it does not show the image as it is
        /// stored.
        ///
        /// - Parameters:
        ///   - image: The header of the image.
        ///   - bytes: The bytes of the file, at least up to ``end``.
        ///   - format: The requested format of pixels.
        func background(
            for image: AVIFHeader, _ bytes: UnsafeBufferPointer<UInt8>, _ format: PixelFormat
        ) -> PreviewBackground? {
            var file = Data(bytes[..<end])
            for (index, offset) in primary.enumerated() {
                file[offset] = UInt8(truncatingIfNeeded: number >> (8 * (primary.count - 1 - index)))
            }
            // libavif shows no item that is a thumbnail, and ignores unknown references.
            file.replaceSubrange(reference, with: "free".utf8)
            let side = PreviewBackground.maximumSide
            let limits = DecodingLimits(
                maximumPixelCount: side * side, maximumByteCount: Self.maximumDecodingByteCount)
            let options = DecodingOptions(
                limits: limits, appliesOrientation: false, pixelFormat: format.shallow, tolerance: .harmless)
            guard let thumbnail = try? OpenedAVIF(file, limits: limits, threadCount: 1),
                thumbnail.header.orientation == image.orientation,
                PreviewBackground.isUsable(thumbnail.header.size, for: image.crop.size),
                let byteCount = try? thumbnail.decodingByteCount(options), byteCount <= Self.maximumDecodingByteCount,
                let pixels = try? thumbnail.decode(options).pixels
            else { return nil }
            return PreviewBackground(pixels)
        }
    }
#endif
