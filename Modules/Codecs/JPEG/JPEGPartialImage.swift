import AlcedoCore
import FoundationEssentials

/// The decoded rows of a JPEG and the memory for all rows.
struct JPEGPartialImage {
    let header: PixelRowHeader
    var pixels: PixelBuffer
    var rowCount = 0

    init(_ header: PixelRowHeader) throws(ImageDecodingError) {
        self.header = header
        // The memory is not initialized, because every row will be written.
        guard
            let pixels = PixelBuffer(
                size: header.size, format: header.format, alphaMode: .opaque, initialize: { _, _ in })
        else { throw ImageDecodingError.noMemory(for: header.size) }
        self.pixels = pixels
    }

    var isComplete: Bool { rowCount == header.size.height }

    /// Reads as many of the missing rows as the reader can provide.
    mutating func read(from reader: JPEGReader) throws(ImageDecodingError) {
        while !isComplete {
            let start = rowCount
            try readPiece(from: reader)
            guard rowCount > start else { return }
            pixels.reportRows(rowCount)
        }
    }

    private mutating func readPiece(from reader: JPEGReader) throws(ImageDecodingError) {
        let stride = pixels.bytesPerRow
        // The rows that are made of the full size begin at a multiple of 16, but not before the rows of the call.
        let (first, limit) = (rowCount, (pixels.rowsPerReport + 15) / 16 * 16)
        var count = 0
        defer { rowCount += count }
        try pixels.withUnsafeMutableBytes { memory throws(ImageDecodingError) in
            try reader.readRows(into: memory, bytesPerRow: stride, from: first, limit: limit, count: &count)
        }
    }

    /// Returns the image and replaces missing rows in its buffer by a background, or clears them: they are then
    /// transparent in RGBA8 and black in gray8.
    ///
    /// - Parameters:
    ///   - options: The decoding options.
    ///   - damage: The damage of the image.
    ///   - background: The background of a preview, or nil for none.
    mutating func image(
        _ options: DecodingOptions, damage: ImageDamage? = nil, over background: PreviewBackground? = nil
    ) throws(ImageDecodingError) -> DecodedImage {
        var alphaMode = pixels.alphaMode
        if !isComplete, background?.fill(&pixels, from: rowCount) != true {
            let missing = rowCount * pixels.bytesPerRow
            _ = pixels.withUnsafeMutableBytes { memory in
                UnsafeMutableRawBufferPointer(rebasing: memory[missing...]).initializeMemory(
                    as: UInt8.self, repeating: 0)
            }
            if header.format == .rgba8 { alphaMode = options.alphaMode == .premultiplied ? .premultiplied : .straight }
        }
        let rows = pixels.reinterpreted(as: alphaMode)
        var image = DecodedImage(
            pixels: options.appliesOrientation ? try rows.upright(from: header.orientation) : rows,
            colorProfile: header.colorProfile, orientation: options.appliesOrientation ? .up : header.orientation,
            format: .jpeg, damage: damage)
        image.hasInks = header.hasInks
        image.reduction = header.reduction.map {
            options.appliesOrientation ? $0.upright(from: header.orientation, size: header.size) : $0
        }
        return image
    }

    /// Decodes the file of a reader that has all bytes and has read the header. Only this result is final: while many
    /// bytes are available, libjpeg uses another Huffman decoder, which reads invalid codes as zero.
    static func decode(
        _ reader: JPEGReader, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        var partialImage = try JPEGPartialImage(reader.start(options))
        try partialImage.read(from: reader)
        _ = try reader.finish()
        let damage = reader.damage
        if let damage, partialImage.rowCount == 0 { throw damage.error }
        return try partialImage.image(options, damage: damage)
    }
}
