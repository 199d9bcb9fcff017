public import AlcedoCodecs
import AlcedoColor
public import AlcedoCore
import AlcedoProcessing
import AlcedoRuntime
public import FoundationEssentials

/// The conversion of encoded images to another format or size, for example of uploads to a server.
///
/// ```swift
/// let thumbnail = try await ImageConverter().convert(
///     upload, to: .webp(quality: 80), fitting: PixelSize(width: 1600, height: 1600))
/// ```
///
/// Each side of the result is the side of the source times the factor, rounded to the nearest whole number. The image
/// is reduced by the same filter as with the processor `.resize`. The pixels are converted to sRGB, or to the color
/// space of `colorSpace`, whose profile is written if the encoder supports it. ``MetadataPolicy`` controls EXIF, XMP,
/// IPTC, the resolution and the tags of the color profile.
///
/// An animation stays an animation when the encoder and all processors support animations. It ends before a frame that
/// is damaged. Otherwise its first frame is converted.
///
/// The rows of a still image pass from the decoder through the resizer to the encoder one after another. "Recipes" of
/// this module lists the cases in which the whole image is held in memory.
public struct ImageConverter: Sendable {
    /// The codecs of the source formats. Default: PNG, JPEG, GIF and WebP.
    public var codecs: CodecRegistry
    /// The limits of a source image, checked after its header is read and before any pixel is decoded. Default:
    /// `DecodingLimits()`, which allows 100 million pixels and 512 MiB in a frame.
    public var limits: DecodingLimits
    /// The most damage of a source image that is still converted. With `.missingPixels`, still images are held in
    /// memory as a whole. Default: `.wrongPixels`.
    public var tolerance: DamageTolerance
    /// Whether the orientation is applied to the pixels. When false, the pixels keep their stored order, and the
    /// orientation is written as metadata if the format supports it. Default: true.
    public var appliesOrientation: Bool
    /// The metadata of the result. Default: ``MetadataPolicy/strip``.
    public var metadata: MetadataPolicy
    /// The resolution to write, for formats other than GIF. Default: nil, for the one that ``metadata`` keeps.
    public var resolution: ImageResolution?
    /// The color space of the result. With `.embedded`, the pixels are not converted, and the profile of the source is
    /// written if the encoder supports it; inks are converted to sRGB by a formula. Default: sRGB.
    public var colorSpace: OutputColorSpace
    /// The range of luminance of the result. Default: `.standard`.
    ///
    /// ```swift
    /// let converter = ImageConverter(dynamicRange: .high)
    /// let image = try await converter.convert(file, to: .png())
    /// ```
    ///
    /// With `.high`, images in PQ and HLG, and JPEG and HEIF files with a gain map, stay HDR in PNG, AVIF and JPEG XL.
    /// Formats whose samples have 8 bits, such as JPEG and WebP, always get SDR.
    public var dynamicRange: DynamicRange
    /// The maximum number of bytes that the encoder and the encoded bytes hold at once. Default: 4 GiB.
    ///
    /// PNG of more than 4 MiB of pixels, and JPEG that is neither progressive nor optimized, hold a few rows and the
    /// encoded bytes. Other encoders hold the whole image and their `encodingByteCount(of:format:)`, and for an
    /// animation further memory for its frames. A conversion that needs more fails with the `ImageEncodingError`
    /// `exceedsLimit`, if possible before any pixel is encoded, and otherwise as soon as the encoded bytes need more.
    public var maximumEncodingByteCount: Int
    /// The processors that are applied after the image was resized, in this order. Default: none.
    public var processors: [any ImageProcessing]

    /// Creates a converter. The parameters are the properties of the same names.
    public init(
        codecs: CodecRegistry = .standard,
        limits: DecodingLimits = DecodingLimits(),
        tolerance: DamageTolerance = .wrongPixels,
        appliesOrientation: Bool = true,
        metadata: MetadataPolicy = .strip,
        resolution: ImageResolution? = nil,
        colorSpace: OutputColorSpace = .sRGB,
        dynamicRange: DynamicRange = .standard,
        maximumEncodingByteCount: Int = 4 << 30,
        processors: [any ImageProcessing] = []
    ) {
        self.codecs = codecs
        self.limits = limits
        self.tolerance = tolerance
        self.appliesOrientation = appliesOrientation
        self.metadata = metadata
        self.resolution = resolution
        self.colorSpace = colorSpace
        self.dynamicRange = dynamicRange
        self.maximumEncodingByteCount = maximumEncodingByteCount
        self.processors = processors
    }

    /// Converts an image. Blocks until the conversion ends; `async` callers use the `async` method of the same name.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - encoder: The encoder of the result, such as `.webp(quality: 80)`.
    ///   - size: The maximum width and height of the displayed result in pixels, or nil to keep the size. The aspect
    ///     ratio is kept, and a smaller image is not enlarged. Default: nil.
    ///   - onDamage: Receives the worst damage of the source image that was tolerated, if there is any, including that
    ///     of later frames that the result has or should have. It is called once, at the end. Default: does nothing.
    /// - Returns: The encoded result.
    /// - Throws: `ImageDecodingError` for data that is damaged beyond the tolerance, truncated, in an unknown or
    ///   unsupported format, or beyond the limits. `ImageProcessingError` for a size with a side below one, and from
    ///   the processors. `ImageEncodingError` from the encoder, and `exceedsLimit` beyond
    ///   ``maximumEncodingByteCount``.
    /// - Complexity: O(pixels of the source). Memory is a few rows, except in the cases listed in the description of
    ///   ``ImageConverter``. Decoding and processing hold no more than `DecodingLimits.maximumByteCount`, and encoding
    ///   no more than ``maximumEncodingByteCount``.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil,
        onDamage: (ImageDamage) -> Void = { _ in }
    ) throws -> Data {
        let reader = try codecs.open(data, limits: limits)
        let info = try reader.info()
        let encoder = metadata.encoder(
            encoder, for: info, in: colorSpace, isUpright: appliesOrientation, resolution: resolution)
        // When the orientation is not applied, the rows keep their stored order, so the size must match that order.
        let swapsSides = !appliesOrientation && info.orientation.swapsSides
        let resize = size.map { ImageProcessors.Resize(to: swapsSides ? $0.transposed : $0) }
        let processors: [any ImageProcessing] = (resize.map { [$0] } ?? []) + self.processors
        let options = options(for: info, encoder.format, processors.first)
        let process = { (next: any PixelRowConsumer) -> any PixelRowConsumer in
            ColorConvertedRows(
                to: colorSpace, range: options.dynamicRange, by: Self.colorConverter,
                next: processors.reversed().reduce(next) { $1.rows(into: $0) })
        }
        guard info.frameCount == 1 else {
            try reader.checkMemory(options, into: processors.isEmpty ? nil : process(PixelRowCollector()))
            var image = try reader.decode(options)
            let plan = ColorConversionPlan(
                image.rowHeader, to: colorSpace, range: options.dynamicRange, by: Self.colorConverter)
            image = plan.applied(to: image, by: Self.colorConverter, colorSpace)
            for processor in processors { image = try processor.process(image) }
            image.colorProfile = metadata.colorProfile(of: image.colorProfile)
            let result = try encoder.encode(image, limit: maximumEncodingByteCount, named: Self.encodingLimitName)
            // The damage of later frames is known after they were read.
            if let damage = ImageDamage.worst(image.damage, image.frames?.damage) { onDamage(damage) }
            return result
        }
        var result = Data()
        let limit = maximumEncodingByteCount
        let memory = EncoderMemory()
        let rows = encoder.makeRowEncoder { bytes in
            try encoder.check(
                memory.byteCount.addingClamped(result.count).addingClamped(bytes.byteCount), of: memory.size,
                limit: limit, named: Self.encodingLimitName)
            bytes.withUnsafeBytes { result.append(contentsOf: $0) }
        }
        var consumer: any PixelRowConsumer = EncodedRows(by: encoder, limit: limit, memory, next: rows)
        let isUnchanged = resize == nil && processors.isEmpty
        if !isUnchanged, info.isGrayWithAlpha, encoder.format == .png {
            // Only the finished image shows whether the processors kept it gray.
            consumer = WholeImageStage(next: consumer) { image in
                var image = image
                image.storedModel = image.isGrayWithAlpha ? .grayAlpha : nil
                return image
            }
        }
        consumer = process(MetadataFilteredRows(metadata, isUnchanged ? info.colorModel : nil, next: consumer))
        try reader.checkMemory(options, into: consumer)
        // Rows that were passed on cannot be taken back, so a partial image is decoded as a whole.
        let damage =
            try options.allowsPartial
            ? reader.decode(options).sendRows(to: consumer)
            : reader.decodeRows(options, into: consumer)
        if let damage { onDamage(damage) }
        return result
    }

    /// Converts an image on a thread for blocking work. The process runs at most one conversion per active processor
    /// core at a time, which bounds the memory. Further conversions wait.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - encoder: The encoder of the result, such as `.webp(quality: 80)`.
    ///   - size: The maximum width and height of the displayed result in pixels, or nil to keep the size. The aspect
    ///     ratio is kept, and a smaller image is not enlarged. Default: nil.
    ///   - onDamage: Receives the worst damage of the source image that was tolerated, as in the blocking method, on
    ///     the thread of the conversion. Default: does nothing.
    /// - Returns: The encoded result.
    /// - Throws: The errors of the blocking method, and `CancellationError` when the task is canceled before the
    ///   conversion begins. A conversion that has begun is not interrupted.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil,
        onDamage: @escaping @Sendable (ImageDamage) -> Void = { _ in }
    ) async throws -> Data {
        try await Self.threads.run { try convert(data, to: encoder, fitting: size, onDamage: onDamage) }
    }

    fileprivate static let encodingLimitName = "ImageConverter.maximumEncodingByteCount"

    private static let colorConverter = LittleCMSColorConverter()

    private static let threads = BlockingExecutor(
        name: "alcedo.convert", maxConcurrent: ProcessInfo.processInfo.activeProcessorCount)

    private func options(
        for info: ImageInfo, _ format: ImageFormat, _ processor: (any ImageProcessing)?
    ) -> DecodingOptions {
        var options = DecodingOptions(
            limits: limits, appliesOrientation: appliesOrientation, pixelFormat: info.exactFormat,
            tolerance: tolerance)
        if let target = processor?.decodingTarget {
            // Decoders expect the size of the upright image.
            let swapsSides = !appliesOrientation && info.orientation.swapsSides
            options.target = swapsSides ? TargetSize(target.size.transposed, mode: target.mode) : target
        }
        // Without a target, this only tells that the rows are passed on.
        options.isFiltered = true
        options.keepsInks = colorSpace != .embedded
        // These formats support only 8-bit samples.
        if [.jpeg, .gif, .webp].contains(format) {
            options.pixelFormat = options.pixelFormat.shallow
        } else {
            options.dynamicRange = dynamicRange
        }
        return options
    }
}

/// The memory of an encoder, and the size of its image, when its rows begin.
private final class EncoderMemory {
    var byteCount = 0
    var size = PixelSize(width: 0, height: 0)
}

/// A consumer that passes rows on to an encoder, if it holds no more memory than a limit. The memory counts in this
/// limit only, and not in that of decoding.
private final class EncodedRows: PixelRowConsumer {
    private let encoder: any ImageEncoding
    private let limit: Int
    private let memory: EncoderMemory
    private let next: any PixelRowConsumer

    init(by encoder: any ImageEncoding, limit: Int, _ memory: EncoderMemory, next: any PixelRowConsumer) {
        (self.encoder, self.limit, self.memory, self.next) = (encoder, limit, memory, next)
    }

    func begin(_ header: PixelRowHeader) throws {
        (memory.byteCount, memory.size) = (next.byteCount(for: header), header.size)
        try encoder.check(memory.byteCount, of: header.size, limit: limit, named: ImageConverter.encodingLimitName)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws { try next.consume(row) }

    func finish() throws { try next.finish() }
}
