#if TIFF
    public import AlcedoCore
    import CTIFFShim
    package import FoundationEssentials

    /// The encoder of `ImageEncoder.tiff(compression:)`, whose comment describes the behavior.
    package struct TIFFEncoder: MetadataEncoding {
        /// The compression of the strips.
        package var compression: TIFFCompression
        /// The metadata to write. The digest of IPTC is not written.
        package var metadata = ImageMetadata()

        package init(compression: TIFFCompression = .deflate) { self.compression = compression }

        package var format: ImageFormat { .tiff }

        /// Encodes the image. For an animation, encodes the first frame.
        ///
        /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for an image whose rows have more than
        ///   2 GiB, `outOfMemory`, or `failed` for any other error.
        package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
            try encode(image, maximumByteCount: .max)
        }

        /// Encodes the image as ``encode(_:)`` does. Throws `exceedsLimit` in the strip whose bytes exceed the limit.
        package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
            var header = image.rowHeader
            if image.isGrayWithAlpha { header.storedModel = .grayAlpha }
            let writer = try TIFFWriter(
                header, compression, metadata, maximumByteCount: maximumByteCount)
            for y in 0..<image.pixels.height { try writer.write(image.pixels.row(y)) }
            return try writer.data()
        }

        /// Returns the memory of the file if nothing can be compressed, which grows to twice its size while the bytes
        /// are copied.
        package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
            size.encodingByteCount(perPixel: 3 * format.bytesPerPixel)
        }

        /// Returns an encoder that takes rows as they arrive. The encoded file is in memory until the end, because its
        /// header refers to the directory after the strips.
        package func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
            TIFFRowEncoder(self, output: output)
        }
    }

    extension ImageEncoding where Self == ImageEncoder {
        /// Returns an encoder of TIFF that uses libtiff.
        ///
        /// ```swift
        /// let data = try ImageEncoder.tiff(compression: .lzw).encode(image)
        /// ```
        ///
        /// Files are baseline TIFF with one page, in strips of about 64 KiB, with 8 or 16 bits per sample, gray or RGB,
        /// and straight alpha if the image has any. Encoding is lossless, except that premultiplied color is divided by
        /// alpha. Animations are written as their first frame. The color profile is written if its color space is that
        /// of the samples. Rows keep their order, and the orientation is written as the tag of the format. An image
        /// that needs 3 GiB or more is written as BigTIFF. Sources: TIFF 6.0; Adobe TIFF technical note 3 for the
        /// predictor.
        ///
        /// XMP, IPTC and the resolution are written. Of EXIF, the directories of EXIF and of GPS are, in the byte order
        /// of the data, which becomes that of the file, and of the directory of the image the description, maker,
        /// model, software, date, artist and copyright. BigTIFF gets these texts only. Damaged entries are left out. So
        /// are all directories if they have no end, or share most of their bytes. Source: CIPA DC-008 (Exif 2.32).
        ///
        /// - Parameter compression: The compression. Default: `.deflate`.
        public static func tiff(compression: TIFFCompression = .deflate) -> Self {
            ImageEncoder(TIFFEncoder(compression: compression))
        }
    }

    /// The compression of the strips of a TIFF file. All are lossless.
    public enum TIFFCompression: String, Sendable, Hashable, CaseIterable {
        /// No compression, for programs that read nothing else.
        case none
        /// LZW with differences of neighboring samples, which every program for TIFF reads.
        case lzw
        /// Deflate with differences of neighboring samples: smaller than LZW, and read by nearly all programs.
        case deflate
    }

    /// An encoder of rows that arrive one by one.
    private final class TIFFRowEncoder: PixelRowConsumer {
        private let encoder: TIFFEncoder
        private let output: (RawSpan) throws -> Void
        private var writer: TIFFWriter?

        init(_ encoder: TIFFEncoder, output: @escaping (RawSpan) throws -> Void) {
            self.encoder = encoder
            self.output = output
        }

        func byteCount(for header: PixelRowHeader) -> Int {
            encoder.encodingByteCount(of: header.size, format: header.format)
        }

        func begin(_ header: PixelRowHeader) throws {
            writer = try TIFFWriter(header, encoder.compression, encoder.metadata, maximumByteCount: .max)
        }

        func consume(_ row: RawSpan) throws { try writer?.write(row) }

        func finish() throws {
            let data = try writer?.data()
            writer = nil
            try data?.withUnsafeBytes { try output($0.bytes) }
        }
    }

    /// A writer of libtiff to which the rows of one image are passed.
    private final class TIFFWriter {
        private let shim: OpaquePointer
        private let header: PixelRowHeader
        private let maximumByteCount: Int
        /// The memory of a row whose color is divided by alpha.
        private var straight: [UInt8] = []

        /// Creates a file for rows with a header.
        init(
            _ header: PixelRowHeader, _ compression: TIFFCompression, _ metadata: ImageMetadata, maximumByteCount: Int
        ) throws(ImageEncodingError) {
            guard let width = UInt32(exactly: header.size.width), let height = UInt32(exactly: header.size.height),
                header.size.isPositive
            else {
                throw ImageEncodingError(.unsupportedImage, "TIFF: the format cannot store \(header.size) pixels")
            }
            guard let shim = alcedo_tiff_encoder_create(max(0, maximumByteCount)) else {
                throw ImageEncodingError(.outOfMemory, "TIFF: cannot encode: out of memory")
            }
            self.shim = shim
            self.header = header
            self.maximumByteCount = maximumByteCount
            var settings = alcedo_tiff_encoder_settings()
            (settings.width, settings.height) = (width, height)
            settings.format = header.format.tiff
            settings.has_alpha = header.format.hasAlpha && header.alphaMode != .opaque ? 1 : 0
            let isGray = header.format.isGray || header.storedModel == .grayAlpha && settings.has_alpha != 0
            settings.is_gray = isGray ? 1 : 0
            settings.compression = compression.shim
            settings.orientation = Int32(header.orientation.rawValue)
            settings.horizontal_resolution = metadata.resolution.map { $0.isValid ? $0.horizontal : 0 } ?? 0
            settings.vertical_resolution = metadata.resolution.map { $0.isValid ? $0.vertical : 0 } ?? 0
            let usable = ICCProfile.encoded(header.colorProfile, isGray: isGray)
            let profile = usable.flatMap { ICCProfile.describes(gray: isGray, $0) ? [UInt8]($0) : nil } ?? []
            let exif = TIFFStoredEXIF(metadata.writtenEXIF(header.orientation, header.size, holdsResolution: true))
            settings.is_big_endian = exif.isBigEndian ? 1 : 0
            (settings.exif_directory, settings.gps_directory) = (UInt32(exif.exif), UInt32(exif.gps))
            let parts = [
                profile, metadata.xmp.map { [UInt8]($0) } ?? [], metadata.iptc.map { [UInt8]($0) } ?? [],
                exif.directories, exif.texts,
            ]
            // libtiff copies the parts.
            let status = Array(parts.joined()).withUnsafeBufferPointer { all in
                var rest = all[...]
                func next(_ part: [UInt8]) -> (UnsafePointer<UInt8>?, Int) {
                    defer { rest = rest.dropFirst(part.count) }
                    return (UnsafeBufferPointer(rebasing: rest.prefix(part.count)).baseAddress, part.count)
                }
                (settings.icc, settings.icc_size) = next(parts[0])
                (settings.xmp, settings.xmp_size) = next(parts[1])
                (settings.iptc, settings.iptc_size) = next(parts[2])
                (settings.directories, settings.directories_size) = next(parts[3])
                settings.texts = exif.texts.isEmpty ? nil : next(parts[4]).0
                return alcedo_tiff_encoder_begin(shim, &settings)
            }
            if header.alphaMode == .premultiplied, header.format.hasAlpha {
                straight = Array(repeating: 0, count: header.bytesPerRow)
            }
            try check(status)
        }

        deinit { alcedo_tiff_encoder_destroy(shim) }

        /// Writes the next row.
        ///
        /// - Throws: ``/AlcedoCore/ImageEncodingError``, also when the work of the thread is canceled.
        func write(_ row: RawSpan) throws(ImageEncodingError) {
            try ImageEncodingError.checkCancellation(.tiff)
            guard row.byteCount >= header.bytesPerRow else {
                throw ImageEncodingError(
                    .failed, "TIFF: a row has \(row.byteCount) bytes instead of \(header.bytesPerRow)")
            }
            let status = row.withUnsafeBytes { row in
                guard !straight.isEmpty else { return write(row) }
                return straight.withUnsafeMutableBytes { straight in
                    straight.copyMemory(from: UnsafeRawBufferPointer(rebasing: row.prefix(straight.count)))
                    AlphaArithmetic.unpremultiply(straight, header.format)
                    return write(UnsafeRawBufferPointer(straight))
                }
            }
            try check(status)
        }

        private func write(_ row: UnsafeRawBufferPointer) -> alcedo_tiff_status {
            row.baseAddress.map { alcedo_tiff_encoder_write(shim, $0, row.count) } ?? ALCEDO_TIFF_CORRUPT
        }

        /// Completes the file, and returns it. Its bytes are not copied.
        func data() throws(ImageEncodingError) -> Data {
            try check(alcedo_tiff_encoder_finish(shim))
            var count = 0
            guard let bytes = alcedo_tiff_encoder_take(shim, &count) else {
                throw ImageEncodingError(.failed, "TIFF: libtiff produced no file")
            }
            return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
        }

        private func check(_ status: alcedo_tiff_status) throws(ImageEncodingError) {
            switch status {
            case ALCEDO_TIFF_OK: return
            case ALCEDO_TIFF_OUT_OF_MEMORY:
                throw ImageEncodingError(.outOfMemory, "TIFF: cannot encode: out of memory")
            case ALCEDO_TIFF_EXCEEDS_LIMIT: throw .exceeds(maximumByteCount, .tiff)
            case ALCEDO_TIFF_UNSUPPORTED:
                throw ImageEncodingError(.unsupportedImage, "TIFF: the format cannot store \(header.size) pixels")
            default:
                throw ImageEncodingError(
                    .failed, "TIFF: cannot encode: \(String(cString: alcedo_tiff_encoder_message(shim)))")
            }
        }
    }

    extension TIFFCompression {
        fileprivate var shim: alcedo_tiff_compression {
            switch self {
            case .none: ALCEDO_TIFF_NONE
            case .lzw: ALCEDO_TIFF_LZW
            case .deflate: ALCEDO_TIFF_DEFLATE
            }
        }
    }
#endif
