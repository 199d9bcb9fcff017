import AlcedoCore
import AlcedoRuntime
import CJPEGShim
import FoundationEssentials

/// A reader that owns one libjpeg decoder.
final class JPEGReader {
    private let shim: OpaquePointer
    private let limits: DecodingLimits
    private let isStream: Bool
    /// The bytes of the file, or those that have been passed last.
    private var bytes: UnsafeBufferPointer<UInt8>
    /// The properties, or nil until the header has been read. Of the metadata, only a reader whose bytes are passed by
    /// ``feed(_:)`` keeps more than the color profile.
    private(set) var info: ImageInfo?
    private var metadataDamage: ImageDamage?
    /// Whether the image has several scans. libjpeg then keeps all coefficients until decoding ends.
    private(set) var hasSeveralScans = false
    /// Whether the image can be decoded while its bytes arrive.
    private(set) var canSuspend = true
    private(set) var coefficientByteCount: UInt64 = 0
    /// The scale of the DCT in eighths, as ``shrink(_:towards:isFiltered:)`` has set it.
    private var eighths: UInt32 = 8
    /// The header of the rows, or `nil` before ``start(_:)``.
    private(set) var rowHeader: PixelRowHeader?

    /// Creates a reader and reads the header. The bytes must outlive the reader.
    ///
    /// When the work of the thread is canceled, the methods that decode throw `decoderUnavailable`.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the file.
    ///   - limits: The limits of the metadata.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        guard let base = bytes.baseAddress, let shim = alcedo_jpeg_create(base, bytes.count) else {
            throw Self.notStarted
        }
        self.shim = shim
        self.limits = limits
        self.bytes = bytes
        isStream = false
        alcedo_jpeg_set_cancellation(shim) { BlockingExecutor.isWorkCanceled ? 1 : 0 }
        _ = try readHeader()
    }

    /// Creates a reader whose bytes are passed by ``feed(_:)``.
    init(limits: DecodingLimits) throws(ImageDecodingError) {
        guard let shim = alcedo_jpeg_create_stream() else { throw Self.notStarted }
        self.shim = shim
        self.limits = limits
        bytes = UnsafeBufferPointer(start: nil, count: 0)
        isStream = true
    }

    deinit { alcedo_jpeg_destroy(shim) }

    private static var notStarted: ImageDecodingError {
        ImageDecodingError(.outOfMemory, "JPEG: cannot create a libjpeg context: out of memory")
    }

    /// Passes all bytes received so far. When they have moved, this method must be called again before other methods.
    func feed(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        self.bytes = bytes
        alcedo_jpeg_feed(shim, base, bytes.count)
    }

    /// The worst damage found so far, also of the metadata.
    var damage: ImageDamage? { .worst(pixelDamage, metadataDamage) }

    /// Whether the rows that were read at a reduced size lack details. A reader that has all bytes makes the other rows
    /// of the image at full size.
    var hasLostDetails: Bool { alcedo_jpeg_lost_details(shim) != 0 }

    /// The damage that libjpeg found.
    var pixelDamage: ImageDamage? {
        var status = ALCEDO_JPEG_OK
        let kind: DamageTolerance
        switch alcedo_jpeg_found_damage(shim, &status) {
        case ALCEDO_JPEG_HARMLESS: kind = .harmless
        case ALCEDO_JPEG_WRONG_PIXELS: kind = .wrongPixels
        case ALCEDO_JPEG_MISSING_PIXELS: kind = .missingPixels
        default: return nil
        }
        let message = "JPEG: \(String(cString: alcedo_jpeg_damage_message(shim)))"
        return ImageDamage(
            kind, ImageDecodingError(status == ALCEDO_JPEG_TRUNCATED ? .truncated : .corrupt, message))
    }

    /// Whether a gain map may follow the image.
    var mayHaveGainMap: Bool {
        let segments = JPEGSegments(bytes)
        return segments.declaresGainMap || !segments.furtherImages.isEmpty
    }

    /// Reads the header. Returns `false` when more bytes are needed.
    func readHeader() throws(ImageDecodingError) -> Bool {
        guard try isDone(alcedo_jpeg_read_header(shim)) else { return false }
        let info = properties(keepsMetadata: isStream)
        metadataDamage = info.metadataDamage
        self.info = info
        return true
    }

    /// Returns the properties. Must be called after the header has been read, and before ``start(_:)``.
    ///
    /// - Parameter keepsMetadata: Whether they include EXIF, XMP, IPTC and the resolution. The color profile and
    ///   orientation are always included.
    func properties(keepsMetadata: Bool) -> ImageInfo {
        var header = alcedo_jpeg_info()
        alcedo_jpeg_get_info(shim, &header)
        coefficientByteCount = header.coefficient_bytes
        canSuspend = header.can_suspend != 0
        hasSeveralScans = header.has_several_scans != 0
        let exif = RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.exif, count: header.exif_size))
        let xmp = RawSpan(_unsafeElements: UnsafeBufferPointer(start: header.xmp, count: header.xmp_size))
        var info = ImageInfo(
            format: .jpeg,
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: ImageOrientation(exif: exif), bitDepth: Int(header.bit_depth),
            colorModel: Self.colorModel(header.color), metadata: metadata(header, keepsMetadata: keepsMetadata))
        // The data that is not kept is checked, too.
        info.hasDamagedMetadata =
            !keepsMetadata
            && (exif.byteCount > 0 && !ImageMetadata.isReadable(exif: exif)
                || xmp.byteCount > 0 && !ImageMetadata.isReadable(xmp: xmp))
        return info
    }

    private func metadata(_ header: alcedo_jpeg_info, keepsMetadata: Bool) -> ImageMetadata {
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
        metadata.hasIgnoredColorProfile = metadata.colorProfile == nil && header.has_icc != 0
        guard keepsMetadata else { return metadata }
        metadata.exif = kept(header.exif, header.exif_size)
        metadata.xmp = kept(header.xmp, header.xmp_size)
        let identifier = metadata.xmp.flatMap(ExtendedXMP.identifier)
        if identifier != nil || header.resources_size > 0 {
            let segments = JPEGSegments(bytes)
            let maximum = { min(left, self.limits.maximumChunkByteCount) }
            if let packet = metadata.xmp, let identifier,
                let rest = segments.extendedXMP(identifier, maximumByteCount: maximum())
            {
                left -= rest.count
                metadata.xmp = ExtendedXMP.joined(packet, rest) ?? packet
            }
            if let resources = segments.imageResources(maximumByteCount: maximum()) {
                left -= resources.count
                (metadata.iptc, metadata.iptcDigest) = PhotoshopResources.iptc(in: resources)
            }
        }
        let unit = [1: 1, 2: 1 / ImageResolution.inchesPerCentimeter][header.density_unit]
        let resolution = unit.map { unit in
            ImageResolution(
                horizontal: Double(header.horizontal_density) * unit, vertical: Double(header.vertical_density) * unit)
        }
        let stored = metadata.exif?.withUnsafeBytes { ImageResolution(exif: $0.bytes) }
        metadata.resolution = stored ?? resolution.flatMap { $0.isValid ? $0 : nil }
        return metadata
    }

    private static func damage(_ tolerance: DamageTolerance) -> alcedo_jpeg_damage {
        switch tolerance {
        case .harmless: ALCEDO_JPEG_HARMLESS
        case .wrongPixels: ALCEDO_JPEG_WRONG_PIXELS
        case .missingPixels: ALCEDO_JPEG_MISSING_PIXELS
        }
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

    /// Starts decoding with the size and format that the options require, and returns the header of the rows. Reads an
    /// image in several scans to its end, unless its bytes are passed by ``feed(_:)``. Must be called once, after the
    /// header has been read. After that, damage that the options do not tolerate is an error, unless the bytes are
    /// passed by ``feed(_:)``.
    func start(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        let header = try checkedHeader(options)
        let rows =
            header.format == .gray8
            ? ALCEDO_JPEG_ROWS_GRAY : header.hasInks ? ALCEDO_JPEG_ROWS_INKS : ALCEDO_JPEG_ROWS_RGBA
        if !isStream { alcedo_jpeg_tolerate(shim, Self.damage(options.tolerance)) }
        if options.isFiltered, canRepeat(options.limits) { alcedo_jpeg_watch_details(shim) }
        _ = try isDone(alcedo_jpeg_start(shim, rows))
        rowHeader = header
        return header
    }

    /// Whether the limits allow to decode the pixels of the file twice.
    private func canRepeat(_ limits: DecodingLimits) -> Bool {
        guard let size = info?.size else { return false }
        return size.width * size.height <= limits.maximumTotalPixelCount / 2
    }

    /// Returns the header of the rows that ``start(_:)`` will produce, and sets the scale for the target size. Throws
    /// `exceedsLimit` when the image exceeds the limits, or `corrupt` when its header has not been read.
    func checkedHeader(_ options: DecodingOptions) throws(ImageDecodingError) -> PixelRowHeader {
        guard let info else { throw ImageDecodingError(.corrupt, "JPEG: the header is missing") }
        let isGray = options.pixelFormat.available(isGray: info.colorModel == .gray, isDeep: false) == .gray8
        let hasInks = info.colorModel == .cmyk || info.colorModel == .ycck
        let profile = info.metadata.colorProfile
        let keepsInks = hasInks && options.keepsInks && profile.map(ICCProfile.describesInks) == true
        // An ink profile does not describe the RGB colors that the formula converts the inks to.
        var header = PixelRowHeader(
            size: info.size, format: isGray ? .gray8 : .rgba8, alphaMode: .opaque,
            colorProfile: hasInks && !keepsInks ? nil : info.sampleProfile, orientation: info.orientation)
        header.hasInks = keepsInks
        if let target = options.target {
            header.size = try shrink(info, towards: target, isFiltered: options.isFiltered)
            // Each sample covers exactly 8/n pixels; libjpeg rounds the number of samples up.
            if eighths < 8 {
                let scale = Double(eighths) / 8
                header.reduction = ImageReduction(
                    of: info.size, width: Double(info.size.width) * scale, height: Double(info.size.height) * scale)
            }
        } else {
            // A byte count for a target may have set another.
            try setScale(8)
        }
        try options.limits.check(header.size, format: header.format)
        // The whole image is read regardless of the output size, and this takes time.
        try options.limits.check(info.size, format: .gray8)
        try checkCoefficients(beside: header, options.limits)
        return header
    }

    /// Sets the smallest DCT scale whose result is at least as large as `target` requires and does not depend on pixels
    /// outside of the image, or 1 when `target` is larger than the image. Returns the size of the result.
    ///
    /// Only the scales 1/8, 1/4, 1/2 and 1 are used. libjpeg-turbo has no vector instructions for the other scales: 3/8
    /// takes longer than 1/2, and 5/8 to 7/8 take longer than 1.
    ///
    /// - Parameter isFiltered: Whether a filter reduces the result, which then is at least twice as large as required
    ///   at 1/2, and three times at 1/4 and 1/8. The target is usually twice the size of the final image.
    ///
    ///   A scaled transform clips the overshoot at sharp edges, so text becomes thinner, and reduces blocks one by one,
    ///   so stripes whose period is near 8 pixels or a half of it beat with the blocks. ``start(_:)`` therefore decodes
    ///   text, line art and stripes at full size, as soon as their rows show them: see details.c. Photos stay at the
    ///   reduced size. They have 49 dB or more against the filtered full image.
    func shrink(
        _ info: ImageInfo, towards target: TargetSize, isFiltered: Bool
    ) throws(ImageDecodingError) -> PixelSize {
        let box = info.orientation.swapsSides ? target.size.transposed : target.size
        let needed = info.size.scaled(to: box, mode: target.mode)
        var size = info.size
        // At an eighth of a sequential file, libjpeg does not keep what shows stripes.
        let scales: [UInt32] = isFiltered && !hasSeveralScans ? [2, 4, 8] : [1, 2, 4, 8]
        for eighths in scales {
            size = try setScale(eighths)
            let factor = !isFiltered ? 1 : eighths <= 2 ? 3 : 2
            guard size.width >= needed.width * factor, size.height >= needed.height * factor else { continue }
            if alcedo_jpeg_shows_padding(shim) == 0 { break }
        }
        return size
    }

    @discardableResult
    private func setScale(_ eighths: UInt32) throws(ImageDecodingError) -> PixelSize {
        self.eighths = eighths
        var (width, height) = (UInt32(0), UInt32(0))
        _ = try isDone(alcedo_jpeg_set_scale(shim, eighths, &width, &height))
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// Returns the number of bytes of the output in RGBA8, of a second buffer for reorienting or previews, and of the
    /// coefficients of an image in several scans. Also sets the scale for the target size.
    ///
    /// - Parameters:
    ///   - options: The decoding options.
    ///   - isIncremental: Whether previews are made while the bytes arrive. When a preview shares the memory of the
    ///     output, decoding the next rows copies the output.
    func byteCount(_ options: DecodingOptions, isIncremental: Bool = false) throws(ImageDecodingError) -> Int {
        guard let info else { throw ImageDecodingError(.corrupt, "JPEG: the header is missing") }
        let size = try options.target.map { target throws(ImageDecodingError) in
            try shrink(info, towards: target, isFiltered: options.isFiltered)
        }
        let stored = size ?? info.size
        let orientation = options.appliesOrientation ? info.orientation : .up
        // Rows that are passed on are decoded sixteen at a time.
        let passesRows = options.passesRows && orientation == .up && !isIncremental
        let held = passesRows ? PixelSize(width: stored.width, height: min(16, stored.height)) : stored
        let output = PixelBuffer.byteCount(size: held, format: .rgba8) ?? 0
        let uprightByteCount =
            PixelBuffer.byteCount(size: orientation.swapsSides ? stored.transposed : stored, format: .rgba8) ?? 0
        // Rows that are reduced from the full size, if the reduced size loses details.
        let detailByteCount =
            options.isFiltered && stored != info.size ? ALCEDO_JPEG_DETAIL_ROWS * info.size.width * 4 : 0
        return output + (orientation != .up || isIncremental ? uprightByteCount : 0) + detailByteCount
            + Int(clamping: coefficientByteCount)
    }

    /// Throws `exceedsLimit` when the output and the coefficients of an image in several scans together exceed the byte
    /// limit. libjpeg keeps all coefficients regardless of the output size.
    private func checkCoefficients(
        beside header: PixelRowHeader, _ limits: DecodingLimits
    ) throws(ImageDecodingError) {
        let output = PixelBuffer.byteCount(size: header.size, format: header.format) ?? Int.max
        guard coefficientByteCount <= UInt64(max(0, limits.maximumByteCount - output)) || coefficientByteCount == 0
        else {
            throw ImageDecodingError(
                .exceedsLimit,
                "JPEG: cannot decode \(header.size) pixels in several scans: \(coefficientByteCount) bytes of "
                    + "coefficients and the result exceed the limit of \(limits.maximumByteCount) bytes "
                    + "(DecodingLimits.maximumByteCount)")
        }
    }

    /// Reads the next rows into `memory`. Reads fewer rows when bytes are missing and at the end of the image.
    ///
    /// - Parameters:
    ///   - memory: The memory for all rows of the buffer.
    ///   - bytesPerRow: The distance between the starts of two rows in bytes.
    ///   - first: The index of the first row in the buffer. Default: 0.
    ///   - limit: The maximum number of rows. Default: as many as fit.
    ///   - count: Is increased by the number of rows that were read, even when an error is thrown.
    func readRows(
        into memory: UnsafeMutableRawBufferPointer, bytesPerRow: Int, from first: Int = 0, limit: Int = .max,
        count: inout Int
    ) throws(ImageDecodingError) {
        guard let base = memory.baseAddress, bytesPerRow > 0 else { return }
        var read = 0
        let capacity = memory.count / bytesPerRow
        let status = alcedo_jpeg_read_rows(
            shim, base.assumingMemoryBound(to: UInt8.self), bytesPerRow, capacity, first,
            first + min(limit, capacity - first), &read)
        count += read
        _ = try isDone(status)
    }

    /// Decodes all rows and sends them to `consumer`. Calls the consumer's `begin` before the first row and its
    /// `finish` after the last.
    ///
    /// - Returns: The damage that the options tolerate.
    /// - Throws: `exceedsLimit` when the image exceeds the limits, the error of damage that the options do not
    ///   tolerate, the other errors of libjpeg, and the errors of the consumer.
    func sendRows(_ options: DecodingOptions, to consumer: any PixelRowConsumer) throws -> ImageDamage? {
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
            // A reader of complete data reports the end as an error, but a fed reader would wait for bytes that never
            // come.
            guard count > 0 else {
                throw ImageDecodingError(.truncated, "JPEG: the data ends after \(sent) of \(header.size.height) rows")
            }
            sent += count
        }
        _ = try finish()
        try consumer.finish()
        return damage
    }

    /// Reads to the end of the image. Returns `false` when more bytes are needed. Throws the error of damage that is
    /// not tolerated.
    func finish() throws(ImageDecodingError) -> Bool { try isDone(alcedo_jpeg_finish(shim)) }

    /// Reads scans as far as bytes are available. Returns the number of complete scans, and whether these are all.
    func consumeScans() throws(ImageDecodingError) -> (complete: UInt32, isEnd: Bool) {
        var complete: UInt32 = 0
        let isEnd = try isDone(alcedo_jpeg_consume(shim, &complete))
        return (complete, isEnd)
    }

    func beginOutput(scan: UInt32) throws(ImageDecodingError) {
        _ = try isDone(alcedo_jpeg_begin_output(shim, scan))
    }

    func endOutput() throws(ImageDecodingError) { _ = try isDone(alcedo_jpeg_end_output(shim)) }

    /// Returns `true` for success and `false` when more bytes are needed. Throws for any other status.
    private func isDone(_ status: alcedo_jpeg_status) throws(ImageDecodingError) -> Bool {
        let message = { "JPEG: \(String(cString: alcedo_jpeg_message(self.shim)))" }
        switch status {
        case ALCEDO_JPEG_OK: return true
        case ALCEDO_JPEG_SUSPENDED: return false
        case ALCEDO_JPEG_TRUNCATED: throw ImageDecodingError(.truncated, message())
        case ALCEDO_JPEG_UNSUPPORTED: throw ImageDecodingError(.unsupportedVariant, message())
        case ALCEDO_JPEG_LIMIT: throw ImageDecodingError(.exceedsLimit, message())
        case ALCEDO_JPEG_OUT_OF_MEMORY: throw ImageDecodingError(.outOfMemory, message())
        case ALCEDO_JPEG_CANCELED: throw ImageDecodingError.canceled("JPEG")
        default: throw ImageDecodingError(.corrupt, message())
        }
    }
}
