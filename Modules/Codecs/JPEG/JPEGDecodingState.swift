import AlcedoCore
import FoundationEssentials

/// The state of a JPEG that is decoded while its bytes arrive.
///
/// The bytes are kept, because libjpeg reads from them. Unless libjpeg has reached the end of the image without damage,
/// and without losing details at a reduced size, ``finish()`` decodes them again in one call to find the final error or
/// the image. A preview of an image with one scan contains the rows decoded so far. With several scans, it contains all
/// rows, at least at the quality of the complete scans. Arithmetic coding gives no previews.
///
/// If the EXIF data has a thumbnail of the image, the first preview can show it before there are rows, and it stands
/// for missing rows. It is never part of the final image.
final class JPEGDecodingState: IncrementalDecodingState {
    private enum Stage { case header, start, rows, scans, waiting, finished, failed }

    private let options: DecodingOptions
    private var data = Data()
    private var stage = Stage.header
    private var reader: JPEGReader?
    private var partialImage: JPEGPartialImage?
    /// The thumbnail of the file until the first preview decodes it.
    private var thumbnail: JPEGThumbnail?
    private var background: PreviewBackground?
    private var completeScans: UInt32 = 0
    /// The number of rows or scans in the last preview.
    private var previewed = 0
    /// The damage of the metadata. Set when the image is finished.
    private var damage: ImageDamage?
    private(set) var info: ImageInfo?
    private(set) var decodingByteCount: Int?

    init(options: DecodingOptions) { self.options = options }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        guard stage != .finished else { return }
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard !data.isEmpty, stage != .failed, stage != .waiting else { return }
        try decode { reader throws(ImageDecodingError) in
            if stage == .header { try readHeader(reader) } else { try advance(reader) }
        }
    }

    /// Runs `body`. After an error, nothing is decoded before ``finish()``. An error that the options allow is not
    /// thrown, but left to ``finish()``.
    private func decode(
        _ body: (JPEGReader) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        do throws(ImageDecodingError) {
            try withReader(body)
            // The image is complete or will be decoded by another reader: the coefficients are no longer needed.
            if stage == .finished || stage == .waiting { (reader, thumbnail, background) = (nil, nil, nil) }
        } catch {
            let isHeader = stage == .header
            stage = .failed
            // What is wrong behind the header may be tolerated.
            let isFinal = isHeader || error.code == .exceedsLimit || error.code == .outOfMemory
            guard !isFinal || options.allows(error) else { throw error }
        }
    }

    /// Reads the bytes before the pixels. Allocates nothing for the pixels.
    private func readHeader(_ reader: JPEGReader) throws(ImageDecodingError) {
        guard try reader.readHeader() else { return }
        info = reader.info
        let header = try reader.checkedHeader(options)
        if let info, let exif = info.metadata.exif { thumbnail = JPEGThumbnail(in: exif, of: info.size, for: header) }
        // Previews are in SDR, so a gain map holds nothing before `finish()`.
        decodingByteCount =
            try reader.byteCount(options, isIncremental: true) + (thumbnail?.decodingByteCount ?? 0)
        stage = .start
    }

    private func mayApplyGainMap(_ reader: JPEGReader) -> Bool {
        options.dynamicRange == .high && reader.mayHaveGainMap
    }

    /// Runs `body` with the reader on bytes that do not move during the call.
    private func withReader<Result>(
        _ body: (JPEGReader) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        if reader == nil { reader = try JPEGReader(limits: options.limits) }
        guard let reader else {
            throw ImageDecodingError(.outOfMemory, "JPEG: cannot create a libjpeg context: out of memory")
        }
        return try data.withDecoderInput(of: "JPEG") { bytes throws(ImageDecodingError) in
            reader.feed(bytes)
            return try body(reader)
        }
    }

    private func advance(_ reader: JPEGReader) throws(ImageDecodingError) {
        if stage == .start {
            let header = try reader.start(options)
            partialImage = try reader.canSuspend ? JPEGPartialImage(header) : nil
            stage = reader.hasSeveralScans ? .scans : .rows
            // Arithmetic coding cannot suspend, so nothing is decoded before the end.
            if !reader.canSuspend { stage = .waiting }
        }
        switch stage {
        case .rows:
            try partialImage?.read(from: reader)
            if partialImage?.isComplete == true { try end(reader) }
        case .scans:
            let (complete, isEnd) = try reader.consumeScans()
            completeScans = complete
            guard isEnd else { return }
            try output(scan: complete, reader)
            try end(reader)
        case .header, .start, .waiting, .finished, .failed: break
        }
    }

    /// Reads to the end of the image. With damage of the pixels, if the reduced rows lack details, and if a gain map
    /// may follow, the state waits for ``finish()``, which decodes all bytes again.
    private func end(_ reader: JPEGReader) throws(ImageDecodingError) {
        guard try reader.finish() else { return }
        damage = reader.damage
        let isFinal = reader.pixelDamage == nil && !reader.hasLostDetails && !mayApplyGainMap(reader)
        stage = isFinal ? .finished : .waiting
    }

    /// Reads all rows, at least at the quality of the scans up to `scan`.
    private func output(scan: UInt32, _ reader: JPEGReader) throws(ImageDecodingError) {
        try reader.beginOutput(scan: scan)
        partialImage?.rowCount = 0
        try partialImage?.read(from: reader)
        try reader.endOutput()
    }

    /// Decodes the pixel data that arrived together with the header.
    private func start() throws(ImageDecodingError) {
        guard stage == .start else { return }
        try decode { reader throws(ImageDecodingError) in try advance(reader) }
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        try start()
        switch stage {
        case .rows:
            let hasThumbnail = decodeThumbnail()
            guard let rowCount = partialImage?.rowCount, rowCount > previewed || hasThumbnail else { return nil }
            previewed = rowCount
            return ImagePreview(image: try image(over: background), rowCount: rowCount)
        case .scans:
            guard completeScans > previewed else {
                guard completeScans == 0, decodeThumbnail() else { return nil }
                return ImagePreview(image: try image(over: background), rowCount: 0)
            }
            previewed = Int(completeScans)
            (thumbnail, background) = (nil, nil)
            try withReader { reader throws(ImageDecodingError) in try output(scan: completeScans, reader) }
            return ImagePreview(image: try image(), pass: previewed, rowCount: partialImage?.rowCount ?? 0)
        case .header, .start, .waiting, .finished, .failed: return nil
        }
    }

    /// Decodes the thumbnail for the first preview. Returns whether it can be shown, which is true at most once.
    private func decodeThumbnail() -> Bool {
        background = background ?? thumbnail?.background()
        defer { thumbnail = nil }
        return thumbnail != nil && background != nil
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if stage == .finished {
            var image = try image()
            image.damage = damage
            return image
        }
        // Decoding starts again with all bytes.
        (reader, partialImage) = (nil, nil)
        return try OpenedJPEG(data, limits: options.limits).decode(options)
    }

    private func image(over background: PreviewBackground? = nil) throws(ImageDecodingError) -> DecodedImage {
        guard let image = try partialImage?.image(options, over: background) else {
            throw ImageDecodingError(.corrupt, "JPEG: the file has no image")
        }
        return image
    }
}
