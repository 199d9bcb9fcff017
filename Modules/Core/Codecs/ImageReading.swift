import AlcedoRuntime

/// A reader of one opened image, whose header ``ImageDecoding/open(_:limits:)`` has read.
///
/// ```swift
/// let reader = try CodecRegistry.standard.open(data)
/// if try reader.decodingByteCount(DecodingOptions()) <= 64 << 20 {
///     show(try reader.decode(DecodingOptions()))
/// }
/// ```
///
/// Calls may be repeated in any order and give the same results each time. Each blocks while it works. A reader is used
/// by one thread at a time and is not `Sendable`: open the image, read it and release the reader within one job. It
/// keeps the encoded data and the state of the codec library, and a sandbox keeps a worker for it until the image is
/// decoded.
///
/// A codec that can only decode whole images returns a ``WholeImageReader``.
public protocol ImageReading: AnyObject {
    /// The format, size and orientation of the image.
    var header: ImageHeader { get }

    /// Returns all properties of the image without decoding pixels.
    ///
    /// - Throws: ``ImageDecodingError`` when the properties cannot be read. Some codecs also throw `exceedsLimit` when
    ///   the image exceeds the limits with which it was opened.
    /// - Complexity: O(*n*), where *n* is the number of blocks or chunks in the file, because further frames and
    ///   metadata can follow the pixels of the first frame. Allocates no memory for pixels.
    func info() throws(ImageDecodingError) -> ImageInfo

    /// Returns the maximum number of bytes that decoding holds at once, without the encoded file. Callers use it to
    /// stay within a memory budget.
    ///
    /// Default: the bytes of the full-size image in the requested format, plus those of the upright image when the
    /// orientation must be applied.
    ///
    /// - Throws: ``ImageDecodingError``, as ``decode(_:)`` does.
    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int

    /// Decodes the image. For an animation, the result holds the first frame. If
    /// ``DecodingOptions/includesAnimation`` is true, ``DecodedImage/frames`` provides all frames.
    ///
    /// - Throws: ``ImageDecodingError`` when the data is damaged, unsupported or exceeds the limits of the options, or
    ///   when memory is exhausted. Damage up to ``DecodingOptions/tolerance`` is no error: ``DecodedImage/damage`` of
    ///   the image describes it.
    /// - Complexity: O(*w* × *h*). Peak memory is one output buffer plus the memory that the format requires.
    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage

    /// Decodes the image, or the first frame of an animation, and passes its rows to `consumer`.
    ///
    /// The rows are the same as those of ``decode(_:)``, without the animation. Memory is O(*w*) when the codec can
    /// decode the file row by row from top to bottom and the orientation does not change the order of the rows. Each
    /// row is then passed on right after it is decoded. In all other cases, the decoder also holds the memory that the
    /// format and the rotation require, up to the whole image.
    ///
    /// An error can occur after rows were passed on, so a consumer must not use its result before
    /// ``PixelRowConsumer/finish()``. Partial images are not produced, even if the options allow them.
    ///
    /// Default: decodes the whole image, then passes on its rows.
    ///
    /// - Returns: The worst damage of the file that was tolerated, as ``DecodedImage/damage``. Its kind is never
    ///   `.missingPixels`.
    /// - Throws: ``ImageDecodingError`` as ``decode(_:)`` does, or the error that the consumer throws.
    @discardableResult
    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage?
}

extension ImageReading {
    /// Returns the number of bytes of the full-size image, plus those of the upright image when the orientation must be
    /// applied. Never throws.
    public func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        header.decodingByteCount(options)
    }

    /// Decodes the whole image, then passes on its rows. Throws the errors of ``decode(_:)``, or the error that the
    /// consumer throws.
    @discardableResult
    public func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        try decode(options.forRows).sendRows(to: consumer)
    }

    /// Returns the maximum number of bytes that are held at once while the image is decoded and its rows pass through
    /// `consumer`, with the memory of the consumer and of those after it. If it is nil, no memory is added.
    ///
    /// - Throws: ``ImageDecodingError``, as ``decodingByteCount(_:)`` does.
    package func decodingByteCount(
        _ options: DecodingOptions, into consumer: (any PixelRowConsumer)?
    ) throws(ImageDecodingError) -> Int {
        let decoding = try decodingByteCount(options)
        guard let consumer, header.size.isPositive else { return decoding }
        var rows = header.rowHeader(options)
        let size = rows.size
        // A drawing can become larger than its size. What decoding holds tells whether the image is one.
        let target = options.target.map { size.scaled(to: $0.size, mode: $0.mode, enlarging: true) } ?? size
        if target.pixelCount > size.pixelCount, target.pixelCount <= decoding { rows.size = target }
        guard max(rows.size.width, rows.size.height) <= Self.longestSide else { return .max }
        var held = consumer.byteCount(for: rows)
        if options.target != nil, held > Self.smallByteCount {
            // A decoder that reduces the image passes on less than the size of the file. What it holds when it keeps
            // all rows, of at least one byte a pixel, tells how much at most.
            var whole = options
            whole.allowsPartial = true
            rows.size = rows.size.limited(toPixelCount: try decodingByteCount(whole))
            held = consumer.byteCount(for: rows)
        }
        return decoding.addingClamped(held)
    }

    /// The longest side of rows whose bytes are counted, far beyond what a buffer can have. Products with it fit into
    /// an `Int`.
    private static var longestSide: Int { Int(Int32.max) }
    /// The memory of consumers for which a second look at the decoder is not worth its time.
    private static var smallByteCount: Int { 4 << 20 }

    /// Throws `exceedsLimit` when decoding, with a consumer of its rows if there is one, holds more than the limit of
    /// bytes at its peak. An image whose bytes cannot be counted is left to the decoder.
    package func checkMemory(
        _ options: DecodingOptions, into consumer: (any PixelRowConsumer)? = nil
    ) throws(ImageDecodingError) {
        guard let byteCount = try? decodingByteCount(options, into: consumer) else { return }
        try check(
            byteCount, options, limit: options.limits.maximumByteCount, named: "DecodingLimits.maximumByteCount")
    }

    /// Throws `exceedsLimit` when decoding needs more bytes than a limit. The error names the size of an image that
    /// also exceeds the limit on pixels, which says more than a number of bytes.
    package func check(
        _ byteCount: Int, _ options: DecodingOptions, limit: Int, named name: String
    ) throws(ImageDecodingError) {
        guard byteCount > limit else { return }
        if header.size.isPositive { try options.limits.check(header.size, format: .gray8) }
        throw ImageDecodingError(
            .exceedsLimit,
            "decoding the image needs \(byteCount.byteCountText) of memory; the limit is \(limit.byteCountText) (\(name))"
        )
    }
}

/// The properties of an image that a decoder reads before it can decode.
public struct ImageHeader: Sendable, Hashable {
    /// The format of the image.
    public var format: ImageFormat
    /// The size as stored in the file, before the orientation is applied. For an animation, the size of the canvas.
    public var size: PixelSize
    /// The orientation of the stored rows. In some formats it is stored after the pixels; the orientation that
    /// ``ImageReading/info()`` returns counts.
    public var orientation: ImageOrientation

    /// Creates a header. By default, the image is upright.
    public init(format: ImageFormat, size: PixelSize, orientation: ImageOrientation = .up) {
        self.format = format
        self.size = size
        self.orientation = orientation
    }

    /// Creates the header of an image whose properties are known.
    public init(_ info: ImageInfo) {
        self.init(format: info.format, size: info.size, orientation: info.orientation)
    }

    /// The size after the orientation is applied.
    public var uprightSize: PixelSize { orientation.swapsSides ? size.transposed : size }

    /// Returns the number of bytes of the full-size image, plus those of the upright image when the orientation must be
    /// applied.
    func decodingByteCount(_ options: DecodingOptions) -> Int {
        // The rotated image is made in a second buffer beside the stored one. Rows are padded, so an image with swapped
        // sides can need more bytes.
        let sizes = options.appliesOrientation && orientation != .up ? [size, uprightSize] : [size]
        return sizes.reduce(0) { sum, size in
            sum.addingClamped(PixelBuffer.byteCount(size: size, format: options.pixelFormat) ?? .max)
        }
    }

    /// Returns the header of the largest rows that a decoder passes on if it does not scale the image.
    fileprivate func rowHeader(_ options: DecodingOptions) -> PixelRowHeader {
        PixelRowHeader(
            size: options.appliesOrientation ? uprightSize : size,
            format: options.withDepthOfRange.pixelFormat.available(isGray: false, isDeep: true),
            alphaMode: options.alphaMode == .premultiplied ? .premultiplied : .straight,
            orientation: options.appliesOrientation ? .up : orientation)
    }
}

extension PixelSize {
    /// Returns this size, or a smaller one with the same proportions and about this number of pixels. Never less.
    fileprivate func limited(toPixelCount limit: Int) -> PixelSize {
        let scale = (Double(limit) / (Double(width) * Double(height))).squareRoot()
        guard limit > 0, scale < 1 else { return self }
        return PixelSize(
            width: Int((Double(width) * scale).rounded(.up)), height: Int((Double(height) * scale).rounded(.up)))
    }
}

/// The reader of a codec that decodes a whole image at once.
///
/// ```swift
/// func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
///     let info = ImageInfo(format: .png, size: image.size)
///     return WholeImageReader(info) { _ throws(ImageDecodingError) in image }
/// }
/// ```
public final class WholeImageReader: ImageReading {
    private let properties: ImageInfo
    private let image: (DecodingOptions) throws(ImageDecodingError) -> DecodedImage

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - info: The properties of the image.
    ///   - decode: A closure that decodes the image for ``decode(_:)``, each time it is called.
    public init(
        _ info: ImageInfo, decode: @escaping (DecodingOptions) throws(ImageDecodingError) -> DecodedImage
    ) {
        properties = info
        image = decode
    }

    /// The header with the format, size and orientation of the properties.
    public var header: ImageHeader { ImageHeader(properties) }

    /// Returns the properties. Never throws.
    public func info() throws(ImageDecodingError) -> ImageInfo { properties }

    /// Decodes the image by the closure. Throws its error.
    public func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage { try image(options) }
}
