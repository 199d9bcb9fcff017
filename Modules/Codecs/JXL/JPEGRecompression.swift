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
        ///   as one with arithmetic coding or CMYK, for an image that exceeds the limits, and for a file that
        ///   ``reconstruct(_:limits:)`` would not make; `failed` for damaged data; `outOfMemory`.
        /// - Complexity: O(*w* × *h*). Memory: ``compressionByteCount(of:effort:fileByteCount:)``.
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
                // The memory of libjxl is released before the file is reconstructed.
                let file = try encode(bytes, effort: effort)
                // libjxl stores some damaged files whose bytes it cannot reconstruct.
                guard (try? reconstruct(file, limits: limits)) == jpeg else {
                    throw ImageEncodingError(
                        .unsupportedImage, "JPEG XL: cannot recompress the JPEG: its bytes cannot be reconstructed")
                }
                return file
            }
        }

        private static func encode(
            _ jpeg: UnsafeBufferPointer<UInt8>, effort: Int
        ) throws(ImageEncodingError) -> Data {
            let writer = try JXLWriter(threads: 1)
            try writer.add(jpeg: jpeg, effort: Int32(min(max(effort, 1), 9)))
            return try writer.data()
        }

        /// Returns the number of bytes of memory that ``compress(_:effort:limits:)`` holds at its peak, an upper bound
        /// that was measured for noise, progressive files, single rows and files of metadata.
        ///
        /// - Parameters:
        ///   - size: The size of the JPEG image, in pixels.
        ///   - effort: The effort. Default: 7.
        ///   - fileByteCount: The number of bytes of the JPEG file.
        public static func compressionByteCount(of size: PixelSize, effort: Int = 7, fileByteCount: Int) -> Int {
            // Blocks of several components can have 32 pixels a side.
            let padded = size.padded(to: 32)
            // libjxl holds coefficients for whole groups of pixels, also for those of an image with a single row.
            let image = size.padded(to: 256).encodingByteCount(perPixel: 20)
            let bytes = max(0, min(fileByteCount, 1 << 40))
            // libjxl makes tokens of the coefficients. A file has at most one for each bit, and the image three for
            // each pixel. At the highest effort, it compares several ways to code them.
            let tokens = effort >= 9 ? (perByte: 110, perPixel: 60) : (perByte: 64, perPixel: 40)
            return image + min(tokens.perByte * bytes, padded.encodingByteCount(perPixel: tokens.perPixel)) + 8 * bytes
        }

        /// Returns the JPEG file from which a JPEG XL file was made.
        ///
        /// - Parameters:
        ///   - data: A JPEG XL file made by ``compress(_:effort:limits:)`` or by another encoder.
        ///   - limits: The limits of the image. The JPEG file may have at most as many bytes as a frame, and at most
        ///     twice the bytes of `data`, 4 for each pixel, and as many as metadata. Default: the default limits.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `unsupportedVariant` when the file was not made from a JPEG
        ///   file; `exceedsLimit` also for compressed EXIF or XMP that is damaged or larger than 4 MiB; the errors of
        ///   decoding.
        /// - Complexity: O(*w* × *h*). Memory: no more than to decode the image, and the JPEG file twice.
        public static func reconstruct(
            _ data: Data, limits: DecodingLimits = DecodingLimits()
        ) throws(ImageDecodingError) -> Data {
            try data.withDecoderInput(of: "JPEG XL") { bytes throws(ImageDecodingError) in
                let file = try JXLFile(bytes, limits: limits)
                if let damage = file.structureDamage { throw damage.error }
                try JXLContainer(bytes).checkCompressedMetadata(bytes, limits: limits)
                let expected = maximumJPEGByteCount(of: file.header.size, fileByteCount: bytes.count, limits)
                let maximum = min(limits.maximumByteCount, expected)
                let reader = try file.makeReader(ALCEDO_JXL_RECONSTRUCTION)
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
                let reason =
                    expected > limits.maximumByteCount
                    ? "(DecodingLimits.maximumByteCount)" : "for an image and a JPEG XL file of their sizes"
                throw ImageDecodingError(
                    .exceedsLimit, "JPEG XL: the JPEG file exceeds the limit of \(maximum) bytes \(reason)")
            }
        }

        /// Returns the maximum number of bytes of the JPEG file that a JPEG XL file may contain. A file of a few bytes
        /// can contain gigabytes of zeros as metadata. Coefficients take less than 4 bytes a pixel, also those of noise
        /// at the best quality, and metadata that cannot be compressed is in the file. At most `Int.max / 4`.
        package static func maximumJPEGByteCount(
            of size: PixelSize, fileByteCount: Int, _ limits: DecodingLimits
        ) -> Int {
            let metadata = max(0, min(limits.maximumMetadataByteCount, 1 << 30))
            return min(.max / 4, size.encodingByteCount(perPixel: 4).addingClamped(2 * fileByteCount + metadata))
        }
    }

    extension PixelSize {
        /// Returns the size with both sides rounded up to multiples of a number.
        fileprivate func padded(to unit: Int) -> PixelSize {
            func rounded(_ side: Int) -> Int { (max(1, min(side, 1 << 30)) + unit - 1) / unit * unit }
            return PixelSize(width: rounded(width), height: rounded(height))
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
