#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The boxes at the top of a file. Source: ISO/IEC 14496-12, section 4.
    struct HEIFContainer {
        /// The box with the items, when all of its bytes are present.
        private(set) var meta: Box?
        /// The box with the tracks of a sequence, when all of its bytes are present.
        private(set) var movie: Box?
        /// Whether the file does not begin with a list of brands.
        let isForeign: Bool
        /// Whether the last box ends after the bytes.
        let isTruncated: Bool

        /// Finds the boxes in the bytes of a file, or in the beginning of one.
        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            var boxes = FileBoxes()
            while let box = boxes.next(bytes, hasHeader: meta != nil || movie != nil) {
                switch box.type {
                case "meta" where meta == nil: meta = box
                case "moov" where movie == nil: movie = box
                default: break
                }
            }
            isTruncated = boxes.isTruncated
            isForeign = boxes.isForeign || boxes.offset == 0 && !isTruncated
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

    extension BoxReader {
        /// Reads a big-endian number of at most eight bytes. A count of 0 is the number 0.
        ///
        /// - Throws: `corrupt` when the box ends before, or the number exceeds `Int.max`.
        mutating func number(_ count: Int) throws(ImageDecodingError) -> Int {
            guard let number = integer(count) else { throw Self.damaged }
            return number
        }

        /// Reads a signed number of 32 bits.
        mutating func signedNumber() throws(ImageDecodingError) -> Int {
            Int(Int32(truncatingIfNeeded: try number(4)))
        }

        mutating func type() throws(ImageDecodingError) -> BoxType { BoxType(code: UInt64(try number(4))) }

        mutating func skip(_ count: Int) throws(ImageDecodingError) {
            guard advance(count) else { throw Self.damaged }
        }

        private static var damaged: ImageDecodingError { ImageDecodingError(.corrupt, "HEIF: a box is too short") }
    }
#endif
