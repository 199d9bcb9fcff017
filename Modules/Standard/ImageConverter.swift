public import AlcedoCodecs
public import AlcedoCore
import AlcedoProcessing
import AlcedoRuntime
public import FoundationEssentials

/// Converts encoded images to another format or size, for example uploads of a server.
///
/// ```swift
/// let thumbnail = try await ImageConverter().convert(
///     upload, to: .webp(quality: 80), fitting: PixelSize(width: 1600, height: 1600))
/// ```
///
/// A still image is decoded near the size that is needed, and its rows go from the decoder through the resizer to the encoder
/// as they are made. The whole image is in memory only where a format needs that: interlaced and progressive files, an
/// orientation that turns the image, a WebP or GIF that is written, and processors that need whole images. An animation
/// stays one when the encoder's format holds animations; otherwise its first frame is converted. Its frames are decoded one
/// at a time.
///
/// The color profile is kept as far as the encoder keeps it. ``MetadataPolicy`` decides about EXIF.
public struct ImageConverter: Sendable {
    /// The formats that are read. Default: every format of the package.
    package var codecs: CodecRegistry
    /// The limits of an image, checked after its header is read and before any pixel is decoded.
    package var limits: DecodingLimits
    /// Whether the result is upright. When false, the pixels stay as they are stored, and the orientation is written
    /// with them where the format can hold it. Default: true.
    package var appliesOrientation: Bool
    /// The metadata that the result keeps. Default: ``MetadataPolicy/strip``.
    package var metadata: MetadataPolicy
    /// The processors that change the image after it was made to fit, in this order. Default: none.
    package var processors: [any ImageProcessing]

    /// Creates a converter.
    ///
    /// - Parameters:
    ///   - codecs: The formats that are read. Default: every format of the package.
    ///   - limits: The limits of an image, checked after its header is read and before any pixel is decoded.
    ///   - appliesOrientation: Whether the result is upright. When false, the pixels stay as they are stored, and the
    ///     orientation is written with them where the format can hold it. Default: true.
    ///   - metadata: The metadata that the result keeps. Default: ``MetadataPolicy/strip``.
    ///   - processors: The processors that change the image after it was made to fit, in this order. Default: none.
    public init(
        codecs: CodecRegistry = .standard,
        limits: DecodingLimits = DecodingLimits(),
        appliesOrientation: Bool = true,
        metadata: MetadataPolicy = .strip,
        processors: [any ImageProcessing] = []
    ) {
        self.codecs = codecs
        self.limits = limits
        self.appliesOrientation = appliesOrientation
        self.metadata = metadata
        self.processors = processors
    }

    /// Converts an image. Blocks until it is converted: an `async` caller uses the `async` method of the same name.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - encoder: The format and quality of the result, such as `.webp(quality: 80)`.
    ///   - size: The maximum width and height of the result in pixels, as it is seen. The proportions stay, and a smaller
    ///     image is not enlarged. nil keeps the size. Default: nil.
    /// - Returns: The encoded result.
    /// - Throws: `ImageDecodingError` for data that is damaged, truncated, of an unknown format or beyond the limits;
    ///   `ImageProcessingError` for a size with a side below one, and by the processors; `ImageEncodingError`.
    /// - Complexity: O(pixels of the source). Memory is a few rows, and what the type's description names.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil
    ) throws -> Data {
        let info = try codecs.inspect(data, limits: limits)
        let encoder = metadata.exif(of: info).map { encoder.embedding(exif: $0) } ?? encoder
        let options = options(for: info, encoder.format, fitting: size)
        // The rows are resized, whichever way they lie.
        let isTurned = !appliesOrientation && info.orientation.swapsSides
        let resize = size.map { ImageProcessors.Resize(to: isTurned ? $0.transposed : $0) }
        guard info.frameCount == 1 else {
            var image = try codecs.decode(data, options: options)
            if let resize { image = try resize.process(image) }
            for processor in processors { image = try processor.process(image) }
            return try encoder.encode(image)
        }
        var result = Data()
        var consumer = encoder.makeRowEncoder { bytes in bytes.withUnsafeBytes { result.append(contentsOf: $0) } }
        for processor in processors.reversed() { consumer = processor.rows(into: consumer) }
        if let resize { consumer = resize.rows(into: consumer) }
        try codecs.decodeRows(data, options: options, into: consumer)
        return result
    }

    /// Converts an image on a thread for blocking work, of which there are as many as processors. Conversions beyond that
    /// wait, so that their memory is bounded.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - encoder: The format and quality of the result, such as `.webp(quality: 80)`.
    ///   - size: The maximum width and height of the result in pixels, as it is seen. The proportions stay, and a smaller
    ///     image is not enlarged. nil keeps the size. Default: nil.
    /// - Returns: The encoded result.
    /// - Throws: As the method that blocks; `CancellationError` when the task is cancelled before the conversion begins. A
    ///   conversion that has begun runs to its end.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil
    ) async throws -> Data {
        try await Self.threads.run { try convert(data, to: encoder, fitting: size) }
    }

    private static let threads = BlockingExecutor(
        name: "alcedo.convert", width: ProcessInfo.processInfo.activeProcessorCount)

    private func options(for info: ImageInfo, _ format: ImageFormat, fitting size: PixelSize?) -> DecodingOptions {
        var options = DecodingOptions(
            limits: limits, appliesOrientation: appliesOrientation, target: size.map { TargetSize($0) },
            pixelFormat: info.exactFormat)
        // These formats hold samples of eight bits only.
        if options.pixelFormat == .rgba16, [.jpeg, .gif, .webp].contains(format) { options.pixelFormat = .rgba8 }
        return options
    }
}

/// The metadata that a converted image keeps. The color profile is always kept, because the colors depend on it.
public enum MetadataPolicy: Sendable, Hashable {
    /// No metadata. The default of ``ImageConverter``: an uploaded photo usually names its place, date, camera and owner,
    /// and a server that publishes it should publish these only when that is intended.
    case strip
    /// EXIF without a location: description, camera, exposure, dates, author and copyright. Everything else is left out,
    /// because it may hold a location: GPS data, maker notes, comments, time zones, preview images and private tags.
    case keepWithoutLocation
    /// EXIF as it is, but for the orientation of the result, with location and preview image.
    ///
    /// XMP and IPTC are not kept, because no encoder writes them. GIF holds no EXIF, and JPEG at most 65,527 bytes of it.
    case keep

    fileprivate func exif(of info: ImageInfo) -> Data? {
        switch self {
        case .strip: nil
        case .keepWithoutLocation: info.metadata.exifWithoutLocation
        case .keep: info.metadata.exif
        }
    }
}
