import AlcedoCore
import FoundationEssentials

/// The thumbnail in the EXIF data of a JPEG, for previews of the image. Its header has been read.
struct JPEGThumbnail {
    private let file: OpenedJPEG
    private let options: DecodingOptions
    /// The maximum number of bytes that decoding the thumbnail holds.
    let decodingByteCount: Int

    /// Finds the thumbnail. A thumbnail of a thumbnail is not read.
    ///
    /// - Parameters:
    ///   - exif: The EXIF data of the image.
    ///   - size: The size of the image as stored, which has the orientation of the thumbnail.
    ///   - header: The header of the rows that previews have.
    /// - Returns: nil if there is no thumbnail, or it does not show the image.
    init?(in exif: Data, of size: PixelSize, for header: PixelRowHeader) {
        // The rows of a thumbnail have no inks.
        guard !header.hasInks, let data = ImageMetadata.thumbnail(in: exif) else { return nil }
        let side = PreviewBackground.maximumSide
        let limits = DecodingLimits(maximumPixelCount: side * side, maximumByteCount: 16 << 20)
        guard let file = try? OpenedJPEG(data, limits: limits),
            PreviewBackground.isUsable(file.header.size, for: size)
        else { return nil }
        let options = DecodingOptions(
            limits: limits, appliesOrientation: false, pixelFormat: header.format, tolerance: .harmless)
        guard let byteCount = try? file.decodingByteCount(options) else { return nil }
        (self.file, self.options) = (file, options)
        decodingByteCount = byteCount
    }

    /// Decodes the thumbnail. Returns nil if it is damaged, or has color although the image is gray.
    func background() -> PreviewBackground? {
        guard let pixels = try? file.decode(options).pixels, pixels.format == options.pixelFormat else { return nil }
        return PreviewBackground(pixels)
    }
}
