#if JXL
    import AlcedoBoxes
    import AlcedoCore
    import CJXLShim
    import FoundationEssentials

    extension JXLContainer {
        /// Returns EXIF and XMP within the limits, and whether some of it is damaged. Damaged and larger metadata is
        /// omitted.
        func metadata(
            _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
        ) -> (kept: ImageMetadata, isDamaged: Bool) {
            var result = ImageMetadata()
            var isDamaged = false
            var rest = limits.maximumMetadataByteCount
            for box in metadata where box.isEXIFOrXMP {
                let contents: Data
                switch box.read(bytes, maximumByteCount: min(rest, limits.maximumChunkByteCount)) {
                case .success(let data): contents = data
                case .failure(let failure):
                    isDamaged = isDamaged || failure == .damaged
                    continue
                }
                if box.type == "Exif" {
                    result.exif = Self.tiff(contents)
                    isDamaged = isDamaged || result.exif == nil
                } else {
                    result.xmp = contents
                }
                rest -= contents.count
            }
            return (result, isDamaged)
        }

        /// Checks that compressed EXIF and XMP can be decompressed within the limits. libjxl decompresses them without
        /// a limit when it reconstructs a JPEG file.
        ///
        /// - Throws: `exceedsLimit`, also for damaged contents.
        func checkCompressedMetadata(
            _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits
        ) throws(ImageDecodingError) {
            let maximum = min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount)
            for box in metadata where box.isCompressed && box.isEXIFOrXMP {
                guard case .success = box.read(bytes, maximumByteCount: maximum) else {
                    throw ImageDecodingError(
                        .exceedsLimit,
                        "JPEG XL: compressed metadata is damaged or exceeds the limit of \(maximum) bytes")
                }
            }
        }

        /// Returns the EXIF data of a box, which begins with the offset of the TIFF header. Source: ISO/IEC 18181-2,
        /// section 9.5.
        private static func tiff(_ contents: Data) -> Data? {
            let offset = contents.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard contents.count > 4, offset < contents.count - 4 else { return nil }
            return ImageMetadata.tiff(contents.dropFirst(4 + offset))
        }
    }

    extension JXLContainer {
        /// The maximum number of bytes that reading the compressed metadata holds: the window of Brotli, and copies of
        /// the compressed and the decompressed contents.
        func decompressionByteCount(_ limits: DecodingLimits) -> Int {
            let maximum = min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount)
            return metadata.contains { $0.isCompressed && $0.isEXIFOrXMP } ? 16 << 20 + 4 * maximum : 0
        }
    }

    extension JXLMetadataBox {
        var isEXIFOrXMP: Bool { type == "Exif" || type == "xml " }

        /// The reason why contents are not read.
        enum Failure: Error { case damaged, tooLarge }

        /// Returns the decompressed contents of a box with EXIF or XMP. Empty contents count as damaged.
        func read(_ bytes: UnsafeBufferPointer<UInt8>, maximumByteCount: Int) -> Result<Data, Failure> {
            guard !contents.isEmpty else { return .failure(.damaged) }
            guard contents.count <= maximumByteCount else { return .failure(.tooLarge) }
            let source = UnsafeBufferPointer(rebasing: bytes[contents])
            return isCompressed
                ? Self.decompress(source, maximumByteCount: maximumByteCount) : .success(Data(source))
        }

        private static func decompress(
            _ source: UnsafeBufferPointer<UInt8>, maximumByteCount: Int
        ) -> Result<Data, Failure> {
            guard let base = source.baseAddress else { return .failure(.damaged) }
            // Most metadata is short, so the maximum is tried last.
            for capacity in [min(64 << 10, maximumByteCount), maximumByteCount] {
                var output = [UInt8](repeating: 0, count: capacity)
                var count = 0
                switch alcedo_jxl_decompress_box(base, source.count, &output, capacity, &count) {
                case ALCEDO_JXL_OK: return count == 0 ? .failure(.damaged) : .success(Data(output.prefix(count)))
                case ALCEDO_JXL_EXCEEDS_LIMIT: continue
                default: return .failure(.damaged)
                }
            }
            return .failure(.tooLarge)
        }
    }
#endif
