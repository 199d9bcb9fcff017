import AlcedoColor
public import AlcedoCore
public import FoundationEssentials

extension ImageConverter {
    /// Decodes an image for the processor `.overlay`, such as a watermark. Blocks until the image is decoded: a server
    /// calls this once, when it starts.
    ///
    /// ```swift
    /// let converter = ImageConverter()
    /// let logo = try converter.pixels(of: file)
    /// let images = try await converter.convert(
    ///     upload,
    ///     to: [
    ///         .init(.webp(quality: 80), processors: [.resize(width: 1024), .overlay(logo, at: .bottomRight)])
    ///     ])
    /// ```
    ///
    /// The pixels are upright and in the color space of the results. With the ``colorSpace`` `.embedded`, they stay in
    /// that of their file. An animation gives its first frame. The codecs, limits and tolerance are those of the
    /// converter.
    ///
    /// - Throws: `ImageDecodingError`.
    public func pixels(of data: Data) throws(ImageDecodingError) -> PixelBuffer {
        let reader = try codecs.open(data, limits: limits)
        var options = DecodingOptions(
            limits: limits, pixelFormat: try reader.info().exactFormat, tolerance: tolerance, includesAnimation: false)
        options.keepsInks = colorSpace != .embedded
        let image = try PixelRowCollector.image { collector in
            let rows = ColorConvertedRows(to: colorSpace, by: LittleCMSColorConverter(), next: collector)
            try reader.checkMemory(options, into: rows)
            // Rows that were passed on cannot be taken back, so a partial image is decoded as a whole.
            if options.allowsPartial {
                try reader.decode(options).sendRows(to: rows)
            } else {
                try reader.decodeRows(options, into: rows)
            }
        }
        guard let image else { throw ImageDecodingError(.decoderFailed, "the decoder produced no image") }
        return image.pixels
    }
}
