#if HEIF
    import AlcedoCore

    /// The boxes at the top of a file. Source: ISO/IEC 14496-12, section 4.
    struct HEIFContainer {
        /// The box with the items, when all of its bytes are present.
        private(set) var meta: Box?
        /// The box with the tracks of a sequence, when all of its bytes are present.
        private(set) var movie: Box?
        /// Whether the file does not begin with a list of brands.
        private(set) var isForeign = false
        /// Whether the last box ends after the bytes.
        private(set) var isTruncated = false

        private static let knownTypes: Set<BoxType> = [
            "ftyp", "meta", "moov", "mdat", "free", "skip", "uuid", "idat", "moof", "mfra", "wide",
        ]

        /// Finds the boxes in the bytes of a file, or in the beginning of one.
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var offset = 0
            var hasMediaData = false
            while offset < bytes.count {
                guard let box = Box(bytes, at: offset, limit: bytes.count) else {
                    // Fewer bytes than a header may be the beginning of a further box, or other bytes after the image.
                    isTruncated = bytes.count - offset < 16 && !(hasHeader && hasMediaData)
                    isForeign = offset == 0 && !isTruncated
                    return
                }
                guard offset > 0 || box.type == "ftyp" else {
                    isForeign = true
                    return
                }
                guard box.payload.upperBound <= bytes.count else {
                    // Other bytes after the image are not a box, and are ignored.
                    isTruncated = Self.knownTypes.contains(box.type) || !hasMediaData
                    return
                }
                switch box.type {
                case "meta" where meta == nil: meta = box
                case "moov" where movie == nil: movie = box
                case "mdat": hasMediaData = true
                default: break
                }
                offset = box.payload.upperBound
            }
            isTruncated = !hasHeader
        }

        /// Whether a box with the properties of an image is present.
        var hasHeader: Bool { meta != nil || movie != nil }

        /// Returns the error of a file whose image cannot be found.
        func error() -> ImageDecodingError {
            guard !isForeign else { return ImageDecodingError(.corrupt, "HEIF: the file has no list of brands") }
            guard !isTruncated else {
                return ImageDecodingError(.truncated, "HEIF: the data ends within the header")
            }
            return ImageDecodingError(.corrupt, "HEIF: the file has no image")
        }
    }
#endif
