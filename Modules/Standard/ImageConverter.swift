public import AlcedoCodecs
public import AlcedoCore
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
/// Several variants of an image are made of one decode:
///
/// ```swift
/// let images = try await ImageConverter().convert(
///     upload, timeout: .seconds(10),
///     to: [
///         .init(.resize(width: 2048), .jpeg(quality: 82)),
///         .init(.resize(width: 320), .webp(quality: 80)),
///     ], placeholders: .blurHash)
/// for image in images.variants { print(image.mediaType, image.size, image.data.count) }
/// ```
///
/// An animation stays an animation when the encoder and all processors support animations. Its frames are decoded,
/// processed and encoded one at a time, and it ends before a frame that is damaged. Otherwise its first frame is
/// converted. ``frame`` selects one frame.
///
/// The rows of a still image pass from the decoder through the resizer to the encoder one after another. "Recipes" of
/// this module lists the cases in which the whole image is held in memory. "Converting" has the rules of variants,
/// cancellation and queues, beside the code of sharp for the same tasks.
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
    /// With `.high`, images in PQ and HLG, and JPEG and HEIF files with a gain map, stay HDR in PNG, AVIF, JPEG XL and
    /// TIFF, which declares it by its color profile. Formats whose samples have 8 bits, such as JPEG and WebP, always
    /// get SDR.
    public var dynamicRange: DynamicRange
    /// The maximum number of bytes that the encoder and the encoded bytes hold at once. Default: 4 GiB.
    ///
    /// Still PNG of more than 4 MiB of pixels, without interlacing and a maximum number of colors, and JPEG that is
    /// neither progressive nor optimized, hold a few rows and the encoded bytes. Other encoders hold the whole image
    /// and their `encodingByteCount(of:format:)`, and for an animation further memory for its frames. A conversion that
    /// needs more fails with the `ImageEncodingError` `exceedsLimit`, if possible before any pixel is encoded, and
    /// otherwise as soon as the encoded bytes need more.
    public var maximumEncodingByteCount: Int
    /// The index of the only frame of an animation to convert, which becomes a still image; the first frame is 0. An
    /// index that the image does not have is an `ImageProcessingError` `invalidParameter`. A still image has the frame
    /// 0. Default: nil, for the whole animation.
    ///
    /// Of a file with pages, such as a TIFF, this is the index of the page, in place of the page that the codec
    /// selects. ``/AlcedoCore/ImageInfo/pageCount`` is their number. A page that the file does not have is an
    /// `ImageDecodingError` `unsupportedVariant`.
    ///
    /// ```swift
    /// let converter = ImageConverter(frame: 0)
    /// let still = try await converter.convert(upload, to: .jpeg())
    /// ```
    ///
    /// With 0, no other frame is decoded, and no memory is reserved for others.
    public var frame: Int?
    /// Whether samples of more than 8 bits are kept in formats that hold them. Default: true.
    package var keepsDepth = true
    /// The processors that are applied after the image was resized, in this order. Default: none.
    public var processors: [any ImageProcessing]
    /// The queue of the `async` methods, which limits the conversions that run and wait at the same time. Default:
    /// ``ImageConversionQueue/shared``.
    public var queue: ImageConversionQueue
    /// The clock that measures timeouts. Default: the system's clock.
    public var clock: any TimeSource

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
        frame: Int? = nil,
        processors: [any ImageProcessing] = [],
        queue: ImageConversionQueue = .shared,
        clock: any TimeSource = SystemClock()
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
        self.frame = frame
        self.processors = processors
        self.queue = queue
        self.clock = clock
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
    ///   unsupported format, or beyond the limits. `ImageProcessingError` for a size with a side below one, for a
    ///   ``frame`` that the image does not have, and from the processors. `ImageEncodingError` from the encoder, and
    ///   `exceedsLimit` beyond ``maximumEncodingByteCount``. `CancellationError` when the current task is canceled
    ///   before the end.
    /// - Complexity: O(pixels of the source). Memory is a few rows, except in the cases listed in the description of
    ///   ``ImageConverter``. Decoding and processing hold no more than `DecodingLimits.maximumByteCount`, and encoding
    ///   no more than ``maximumEncodingByteCount``.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil,
        onDamage: (ImageDamage) -> Void = { _ in }
    ) throws -> Data {
        let images = try ConversionPass(self, data, to: [Variant(encoder, fitting: size)]).run(describes: false)
        if let damage = images.damage { onDamage(damage) }
        return images.variants[0].data
    }

    /// Converts an image on a thread for blocking work, when it is its turn in the ``queue``.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - encoder: The encoder of the result, such as `.webp(quality: 80)`.
    ///   - size: The maximum width and height of the displayed result in pixels, or nil to keep the size. The aspect
    ///     ratio is kept, and a smaller image is not enlarged. Default: nil.
    ///   - onDamage: Receives the worst damage of the source image that was tolerated, as in the blocking method, on
    ///     the thread of the conversion. Default: does nothing.
    /// - Returns: The encoded result.
    /// - Throws: The errors of the blocking method, ``ImageConversionError`` `queueFull`, and `CancellationError`
    ///   whenever the task is canceled before the end. The conversion then stops as "Converting" of this module
    ///   describes it.
    public func convert(
        _ data: Data, to encoder: any ImageEncoding, fitting size: PixelSize? = nil,
        onDamage: @escaping @Sendable (ImageDamage) -> Void = { _ in }
    ) async throws -> Data {
        try await queue.run {
            data
        } _: {
            try ConversionPass(self, $0, to: [Variant(encoder, fitting: size)])
        } _: { pass in
            let images = try pass.run(describes: false)
            if let damage = images.damage { onDamage(damage) }
            return images.variants[0].data
        }
    }
}
