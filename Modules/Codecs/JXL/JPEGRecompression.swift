#if JXL
    public import AlcedoCore
    import CJXLShim
    public import FoundationEssentials

    /// Lossless recompression of JPEG files as JPEG XL, and reconstruction of the same bytes.
    ///
    /// ```swift
    /// let smaller = try JPEGRecompression.compress(upload)
    /// let same = try JPEGRecompression.reconstruct(smaller)
    /// ```
    ///
    /// A recompressed file is a JPEG XL image that every decoder of the format shows, about a fifth smaller than the
    /// JPEG file. It also contains what is needed to reconstruct the JPEG file byte for byte.
    ///
    /// All metadata of the JPEG file is kept, including a location in EXIF or XMP, because the same bytes are
    /// reconstructed. No metadata policy applies. To omit metadata, remove it from the JPEG file before.
    ///
    /// Calls block while they work. Source: ISO/IEC 18181-2, annex A.
    public enum JPEGRecompression {
        /// Returns a JPEG XL file with the image and all metadata of a JPEG file.
        ///
        /// The JPEG file is reconstructed once, to be sure that the result has the same bytes.
        ///
        /// - Parameters:
        ///   - jpeg: A baseline or progressive JPEG file with Huffman coding.
        ///   - effort: The effort, from 1 (fastest) to 9 (smallest file). Other values are clamped. Default: 7.
        ///   - limits: The limits of the image. Default: the default limits.
        /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for a JPEG that libjxl cannot store, such
        ///   as one with arithmetic coding or CMYK, and for an image that exceeds the limits; `failed` for damaged
        ///   data; `outOfMemory`.
        /// - Complexity: O(*w* × *h*). Memory: the coefficients, several times as many bytes as pixels, and the file.
        public static func compress(
            _ jpeg: Data, effort: Int = 7, limits: DecodingLimits = DecodingLimits()
        ) throws(ImageEncodingError) -> Data {
            try jpeg.bytes.withUnsafeBytes { memory throws(ImageEncodingError) in
                let bytes = memory.assumingMemoryBound(to: UInt8.self)
                guard let frame = JPEGFrame(bytes) else {
                    throw ImageEncodingError(.failed, "JPEG XL: cannot recompress the data: it is not a JPEG file")
                }
                guard frame.isSupported else {
                    throw ImageEncodingError(
                        .unsupportedImage, "JPEG XL: cannot recompress the JPEG: libjxl does not support its coding")
                }
                do throws(ImageDecodingError) { try limits.check(frame.size, format: .rgba8) } catch {
                    throw ImageEncodingError(.unsupportedImage, "JPEG XL: cannot recompress the JPEG: \(error.message)")
                }
                let writer = try JXLWriter(threads: 1)
                try writer.add(jpeg: bytes, effort: Int32(min(max(effort, 1), 9)))
                let file = try writer.data()
                // libjxl stores some damaged files whose bytes it cannot reconstruct.
                guard (try? reconstruct(file, limits: limits)) == jpeg else {
                    throw ImageEncodingError(
                        .unsupportedImage, "JPEG XL: cannot recompress the JPEG: its bytes cannot be reconstructed")
                }
                return file
            }
        }

        /// Returns the JPEG file from which a JPEG XL file was made.
        ///
        /// - Parameters:
        ///   - data: A JPEG XL file made by ``compress(_:effort:limits:)`` or by another encoder.
        ///   - limits: The limits of the image. The JPEG file may have at most as many bytes as a frame. Default: the
        ///     default limits.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `unsupportedVariant` when the file was not made from a JPEG
        ///   file; `exceedsLimit` also for compressed EXIF or XMP that is damaged or larger than 4 MiB; the errors of
        ///   decoding.
        /// - Complexity: O(*w* × *h*). Memory: the coefficients, several times as many bytes as pixels, and both files.
        public static func reconstruct(
            _ data: Data, limits: DecodingLimits = DecodingLimits()
        ) throws(ImageDecodingError) -> Data {
            try data.withDecoderInput(of: "JPEG XL") { bytes throws(ImageDecodingError) in
                let file = try JXLFile(bytes, limits: limits)
                if let damage = file.structureDamage { throw damage.error }
                try JXLContainer(bytes).checkCompressedMetadata(bytes, limits: limits)
                let reader = try file.makeReader(ALCEDO_JXL_RECONSTRUCTION)
                let maximum = limits.maximumByteCount
                // The JPEG file is about a quarter larger.
                var capacity = min(bytes.count + bytes.count / 2 + (4 << 10), maximum)
                while true {
                    var jpeg = [UInt8](repeating: 0, count: capacity)
                    let count = try jpeg.withUnsafeMutableBufferPointer { (memory) throws(ImageDecodingError) in
                        try reader.readJPEG(into: memory)
                    }
                    if let count { return Data(jpeg.prefix(count)) }
                    guard capacity < maximum else { break }
                    capacity = capacity < maximum / 2 ? 2 * capacity : maximum
                }
                throw ImageDecodingError(
                    .exceedsLimit, "JPEG XL: the JPEG file exceeds the limit of \(maximum) bytes")
            }
        }
    }

    /// The first frame header of a JPEG file. It is the one that libjxl finds, because files in which libjxl could find
    /// another one are not supported. Source: ITU-T T.81, annex B.
    private struct JPEGFrame {
        let size: PixelSize
        /// Whether the frame is baseline or progressive with Huffman coding, in gray or three components.
        let isSupported: Bool

        /// Finds the header. Returns nil when there is none.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            func number(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
            guard bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
            var offset = 2
            while offset + 10 <= bytes.count, bytes[offset] == 0xFF {
                let marker = bytes[offset + 1]
                switch marker {
                // A fill byte, and markers without a length.
                case 0xFF: offset += 1
                case 0x01, 0xD0...0xD8: offset += 2
                case 0xC0, 0xC1, 0xC2:
                    size = PixelSize(width: number(at: offset + 7), height: number(at: offset + 5))
                    isSupported = [1, 3].contains(bytes[offset + 9])
                    return
                case 0xD9, 0xDA: return nil
                // DHT, DQT, DRI, APP0 to APP15, and COM.
                case 0xC4, 0xDB, 0xDD, 0xE0...0xEF, 0xFE: offset += 2 + max(2, number(at: offset + 2))
                // Other coding processes, and markers whose length libjxl does not read. It searches their contents for
                // the next marker.
                default:
                    size = PixelSize(width: 0, height: 0)
                    isSupported = false
                    return
                }
            }
            return nil
        }
    }
#endif
