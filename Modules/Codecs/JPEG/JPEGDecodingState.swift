import AlcedoCore
import FoundationEssentials

/// Decodes a JPEG while its bytes arrive.
///
/// Keeps all bytes: libjpeg reads from them, and should it not come to the end, they are decoded at once to say why, or
/// to give the part there is. Rows of one scan are previews as they come; of several, each complete scan is.
final class JPEGDecodingState: IncrementalDecodingState {
    private enum Stage { case header, start, rows, scans, waiting, finished, failed }

    private let options: DecodingOptions
    private var data = Data()
    private var stage = Stage.header
    private var reader: JPEGReader?
    private var partialImage: JPEGPartialImage?
    private var completeScans: UInt32 = 0
    /// Rows, or scans, of the last preview.
    private var previewed = 0
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

    /// Runs `body`, whose damage, when it is allowed, is looked at when all bytes are there.
    private func decode(
        _ body: (JPEGReader) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        do throws(ImageDecodingError) {
            try withReader(body)
            // The picture is whole, or is decoded by another reader: coefficients need not stay.
            if stage == .finished || stage == .waiting { reader = nil }
        } catch {
            stage = .failed
            guard options.allows(error) else { throw error }
        }
    }

    /// Reads what comes before the pixels, and allocates nothing for them.
    private func readHeader(_ reader: JPEGReader) throws(ImageDecodingError) {
        guard try reader.readHeader() else { return }
        info = reader.info
        _ = try reader.checkedHeader(options)
        decodingByteCount = try reader.byteCount(options, isIncremental: true)
        stage = .start
    }

    /// Runs `body` with the reader at bytes that do not move meanwhile.
    private func withReader<Result>(
        _ body: (JPEGReader) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        if reader == nil { reader = try JPEGReader(limits: options.limits) }
        guard let reader else { throw ImageDecodingError(.outOfMemory, "libjpeg could not be started") }
        return try data.withDecoderInput { bytes throws(ImageDecodingError) in
            reader.feed(bytes)
            return try body(reader)
        }
    }

    private func advance(_ reader: JPEGReader) throws(ImageDecodingError) {
        if stage == .start {
            let header = try reader.start(options)
            partialImage = try reader.canSuspend ? JPEGPartialImage(header) : nil
            stage = reader.hasSeveralScans ? .scans : .rows
            // Arithmetic coding: nothing before the end.
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

    /// Reads to the end of the image. Of damage that libjpeg has warned of, decoding at once has the last word: where many
    /// bytes are at hand, it reads Huffman codes in another way, which takes bad ones as they come.
    private func end(_ reader: JPEGReader) throws(ImageDecodingError) {
        do throws(ImageDecodingError) {
            if try reader.finish() { stage = .finished }
        } catch {
            guard error.code == .corrupt else { throw error }
            stage = .waiting
        }
    }

    /// Reads all rows as the scans so far give them.
    private func output(scan: UInt32, _ reader: JPEGReader) throws(ImageDecodingError) {
        try reader.beginOutput(scan: scan)
        partialImage?.rowCount = 0
        try partialImage?.read(from: reader)
        try reader.endOutput()
    }

    /// Decodes what came with the header.
    private func start() throws(ImageDecodingError) {
        guard stage == .start else { return }
        try decode { reader throws(ImageDecodingError) in try advance(reader) }
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        try start()
        switch stage {
        case .rows:
            guard let rowCount = partialImage?.rowCount, rowCount > previewed else { return nil }
            previewed = rowCount
            return ImagePreview(image: try image(), rowCount: rowCount)
        case .scans:
            guard completeScans > previewed else { return nil }
            previewed = Int(completeScans)
            try withReader { reader throws(ImageDecodingError) in try output(scan: completeScans, reader) }
            return ImagePreview(image: try image(), pass: previewed, rowCount: partialImage?.rowCount ?? 0)
        case .header, .start, .waiting, .finished, .failed: return nil
        }
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if stage == .finished { return try image() }
        // What there is of it is made anew.
        (reader, partialImage) = (nil, nil)
        do throws(ImageDecodingError) {
            return try JPEGPartialImage.decode(data, options)
        } catch {
            return try Self.part(of: data, options: options, partialError: error)
        }
    }

    /// What there is of a damaged file; throws the damage when parts are not wanted, or there is nothing to show.
    static func part(
        of data: Data, options: DecodingOptions, partialError: ImageDecodingError
    ) throws(ImageDecodingError) -> DecodedImage {
        guard options.allowsPartial, partialError.code == .truncated || partialError.code == .corrupt else {
            throw partialError
        }
        let state = JPEGDecodingState(options: options)
        try state.append(data)
        try state.start()
        return try state.part(partialError: partialError)
    }

    private func part(partialError: ImageDecodingError) throws(ImageDecodingError) -> DecodedImage {
        if stage == .scans, let reader {
            reader.endInput()
            try output(scan: try reader.consumeScans().complete, reader)
        }
        guard let rowCount = partialImage?.rowCount, rowCount > 0 else { throw partialError }
        return try image(partialError: partialError)
    }

    private func image(partialError: ImageDecodingError? = nil) throws(ImageDecodingError) -> DecodedImage {
        guard let image = try partialImage?.image(options, partialError: partialError) else {
            throw ImageDecodingError(.corrupt, "JPEG: there is no picture")
        }
        return image
    }
}
