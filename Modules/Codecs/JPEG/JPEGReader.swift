import AlcedoCore
import CJPEGShim
import FoundationEssentials

/// Owns one libjpeg decoder.
final class JPEGReader {
    private let shim: OpaquePointer
    private let limits: DecodingLimits
    private let keepsMetadata: Bool
    private(set) var info: ImageInfo?
    /// Whether all coefficients are kept until the end of the bytes.
    private(set) var hasSeveralScans = false
    /// Whether it can be decoded while its bytes arrive.
    private(set) var canSuspend = true
    private(set) var coefficientByteCount: UInt64 = 0
    /// What the rows are; there once they have been started.
    private(set) var rowHeader: PixelRowHeader?

    /// Reads the header. The bytes must outlive the reader.
    ///
    /// - Parameter keepsMetadata: Whether ``info`` is to have EXIF and XMP; it always has what the picture is shown by.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, keepsMetadata: Bool = false
    ) throws(ImageDecodingError) {
        guard let base = bytes.baseAddress, let shim = alcedo_jpeg_create(base, bytes.count) else {
            throw Self.notStarted
        }
        self.shim = shim
        self.limits = limits
        self.keepsMetadata = keepsMetadata
        _ = try readHeader()
    }

    /// A reader whose bytes come by ``feed(_:)``.
    init(limits: DecodingLimits) throws(ImageDecodingError) {
        guard let shim = alcedo_jpeg_create_stream() else { throw Self.notStarted }
        self.shim = shim
        self.limits = limits
        keepsMetadata = true
    }

    deinit { alcedo_jpeg_destroy(shim) }

    private static var notStarted: ImageDecodingError {
        ImageDecodingError(.outOfMemory, "libjpeg could not be started")
    }

    /// Gives all bytes so far; they must stay where they are until the next call of this, or the reader's end.
    func feed(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        alcedo_jpeg_feed(shim, base, bytes.count)
    }

    /// Ends bytes that were fed where the decoder stands, as if the image ended there.
    func endInput() { alcedo_jpeg_end_input(shim) }

    /// False when more bytes are needed.
    func readHeader() throws(ImageDecodingError) -> Bool {
        var header = alcedo_jpeg_info()
        guard try isDone(alcedo_jpeg_read_header(shim, &header)) else { return false }
        coefficientByteCount = header.coefficient_bytes
        canSuspend = header.can_suspend != 0
        hasSeveralScans = header.has_several_scans != 0
        let metadata = metadata(header)
        info = ImageInfo(
            format: .jpeg,
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: ImageOrientation(
                exif: RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.exif, count: header.exif_size))),
            bitDepth: Int(header.bit_depth), colorModel: Self.colorModel(header.color), metadata: metadata)
        return true
    }

    private func metadata(_ header: alcedo_jpeg_info) -> ImageMetadata {
        var left = limits.maximumMetadataByteCount
        func isKept(_ count: Int) -> Bool {
            guard count > 0, count <= min(left, limits.maximumChunkByteCount) else { return false }
            left -= count
            return true
        }
        func kept(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Data? {
            guard let bytes, isKept(count) else { return nil }
            return Data(bytes: bytes, count: count)
        }
        var metadata = ImageMetadata()
        if isKept(header.icc_size) {
            var profile = Data(count: header.icc_size)
            profile.withUnsafeMutableBytes { memory in
                guard let base = memory.baseAddress else { return }
                alcedo_jpeg_copy_profile(shim, base.assumingMemoryBound(to: UInt8.self))
            }
            metadata.colorProfile = profile
        }
        guard keepsMetadata else { return metadata }
        metadata.exif = kept(header.exif, header.exif_size)
        metadata.xmp = kept(header.xmp, header.xmp_size)
        return metadata
    }

    private static func colorModel(_ color: alcedo_jpeg_color) -> ColorModel {
        switch color {
        case ALCEDO_JPEG_GRAY: .gray
        case ALCEDO_JPEG_RGB: .rgb
        case ALCEDO_JPEG_CMYK: .cmyk
        case ALCEDO_JPEG_YCCK: .ycck
        default: .yCbCr
        }
    }

    /// Chooses size and format of the rows by the options. Reads an image in several scans to its end, unless the bytes
    /// are fed. To be called once, when the header has been read.
    func start(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        let header = try checkedHeader(options)
        _ = try isDone(alcedo_jpeg_start(shim, header.format == .gray8 ? 1 : 0))
        rowHeader = header
        return header
    }

    /// The rows that ``start(_:)`` will choose, within the limits.
    func checkedHeader(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        guard let info else { throw ImageDecodingError(.corrupt, "JPEG: there is no header") }
        let isGray = options.pixelFormat == .gray8 && info.colorModel == .gray
        // A profile of inks says nothing about the colours they are turned into.
        let hasInks = info.colorModel == .cmyk || info.colorModel == .ycck
        var header = PixelRowHeader(
            size: info.size, format: isGray ? .gray8 : .rgba8, alphaMode: .opaque,
            colorProfile: hasInks ? nil : info.metadata.colorProfile, orientation: info.orientation)
        if let target = options.target { header.size = try shrink(info, towards: target) }
        try limits.check(header.size, format: header.format)
        // The whole picture is read however small it is decoded, and that takes its time.
        try limits.check(info.size, format: .gray8)
        try checkCoefficients(beside: header)
        return header
    }

    /// Chooses the smallest scale of the DCT that is not below what `target` needs, and returns the size it gives.
    ///
    /// Of the scales only powers of two: libjpeg-turbo has no vector instructions for the others, and three eighths take
    /// longer than four, five to seven longer than all eight.
    func shrink(_ info: ImageInfo, towards target: TargetSize) throws(ImageDecodingError) -> PixelSize {
        let box = info.orientation.swapsSides ? target.size.transposed : target.size
        let needed = info.size.scaled(to: box, mode: target.mode)
        var size = info.size
        for eighths in [UInt32(1), 2, 4, 8] {
            var width: UInt32 = 0
            var height: UInt32 = 0
            _ = try isDone(alcedo_jpeg_set_scale(shim, eighths, &width, &height))
            size = PixelSize(width: Int(width), height: Int(height))
            if size.width >= needed.width, size.height >= needed.height { break }
        }
        return size
    }

    /// The maximum number of bytes that decoding holds: the output, a second one where it is turned, and the coefficients of
    /// an image in several scans.
    ///
    /// - Parameter isIncremental: Whether previews are made while the bytes come. The next rows copy the output when a preview
    ///   shares its memory.
    func byteCount(_ options: DecodingOptions, isIncremental: Bool = false) throws(ImageDecodingError) -> Int {
        guard let info else { throw ImageDecodingError(.corrupt, "JPEG: there is no header") }
        let size = try options.target.map { target throws(ImageDecodingError) in try shrink(info, towards: target) }
        let stored = size ?? info.size
        let orientation = options.appliesOrientation ? info.orientation : .up
        let output = PixelBuffer.byteCount(size: stored, format: .rgba8) ?? 0
        let uprightByteCount =
            PixelBuffer.byteCount(size: orientation.swapsSides ? stored.transposed : stored, format: .rgba8) ?? 0
        return output + (orientation != .up || isIncremental ? uprightByteCount : 0)
            + Int(clamping: coefficientByteCount)
    }

    /// Throws `exceedsLimit` when the coefficients that libjpeg keeps of an image in several scans, whatever the output's
    /// size, and the output together exceed the limit of bytes.
    private func checkCoefficients(beside header: PixelRowHeader) throws(ImageDecodingError) {
        let output = PixelBuffer.byteCount(size: header.size, format: header.format) ?? Int.max
        guard coefficientByteCount <= UInt64(max(0, limits.maximumByteCount - output)) || coefficientByteCount == 0
        else {
            throw ImageDecodingError(
                .exceedsLimit,
                "JPEG: \(header.size) pixels in several scans need \(coefficientByteCount) bytes beside the picture's")
        }
    }

    /// Reads the next rows into the memory, and says how many; fewer than fit when bytes are missing, and at the end.
    ///
    /// - Parameter count: Grows by the rows that were read, also when this throws.
    func readRows(
        into memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: inout Int
    ) throws(ImageDecodingError) {
        guard let base = memory.baseAddress, bytesPerRow > 0 else { return }
        var read = 0
        let status = alcedo_jpeg_read_rows(
            shim, base.assumingMemoryBound(to: UInt8.self), bytesPerRow, memory.count / bytesPerRow, &read)
        count += read
        _ = try isDone(status)
    }

    /// Reads all rows and hands them to `consumer`, from its beginning to its end.
    ///
    /// - Throws: `truncated` when libjpeg gives no more rows before the last; what the consumer throws.
    func sendRows(_ options: DecodingOptions, to consumer: any PixelRowConsumer) throws {
        let header = try start(options)
        try consumer.begin(header)
        var rows = [UInt8](repeating: 0, count: 16 * header.bytesPerRow)
        var sent = 0
        while sent < header.size.height {
            var count = 0
            try rows.withUnsafeMutableBytes { rows in
                try readRows(into: rows, bytesPerRow: header.bytesPerRow, count: &count)
                for row in 0..<count {
                    let range = row * header.bytesPerRow..<(row + 1) * header.bytesPerRow
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: rows[range])))
                }
            }
            // A reader of all bytes reports their end as an error; this one may wait for bytes that never come.
            guard count > 0 else {
                throw ImageDecodingError(.truncated, "JPEG: there are \(sent) of \(header.size.height) rows")
            }
            sent += count
        }
        _ = try finish()
        try consumer.finish()
    }

    /// Reads to the end of the image; false when more bytes are needed.
    func finish() throws(ImageDecodingError) -> Bool { try isDone(alcedo_jpeg_finish(shim)) }

    /// Reads scans as far as the bytes reach. Returns how many are complete, and whether those are all.
    func consumeScans() throws(ImageDecodingError) -> (complete: UInt32, isEnd: Bool) {
        var complete: UInt32 = 0
        let isEnd = try isDone(alcedo_jpeg_consume(shim, &complete))
        return (complete, isEnd)
    }

    func beginOutput(scan: UInt32) throws(ImageDecodingError) {
        _ = try isDone(alcedo_jpeg_begin_output(shim, scan))
    }

    func endOutput() throws(ImageDecodingError) { _ = try isDone(alcedo_jpeg_end_output(shim)) }

    /// False when more bytes are needed.
    private func isDone(_ status: alcedo_jpeg_status) throws(ImageDecodingError) -> Bool {
        let message = { "JPEG: \(String(cString: alcedo_jpeg_message(self.shim)))" }
        switch status {
        case ALCEDO_JPEG_OK: return true
        case ALCEDO_JPEG_SUSPENDED: return false
        case ALCEDO_JPEG_TRUNCATED: throw ImageDecodingError(.truncated, message())
        case ALCEDO_JPEG_UNSUPPORTED: throw ImageDecodingError(.unsupportedVariant, message())
        case ALCEDO_JPEG_LIMIT: throw ImageDecodingError(.exceedsLimit, message())
        case ALCEDO_JPEG_OUT_OF_MEMORY: throw ImageDecodingError(.outOfMemory, message())
        default: throw ImageDecodingError(.corrupt, message())
        }
    }
}
