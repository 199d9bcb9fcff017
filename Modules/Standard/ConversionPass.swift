import AlcedoColor
import AlcedoCore
import AlcedoPlaceholders
import AlcedoProcessing
import AlcedoRuntime
import FoundationEssentials

/// An opened image, and the variants that are made of it. One thread uses a pass, from its creation to its end.
///
/// The rows of a still image pass from the decoder to the processors and the encoder of each variant, one row after
/// another. The decoder makes the size that the largest variant needs, and each variant is filtered from these rows,
/// with the exact position of each row in the file. A smaller variant is therefore as good as one that is made alone.
final class ConversionPass {
    private let converter: ImageConverter
    private let reader: any ImageReading
    private let info: ImageInfo
    /// The frame of the converter; nil for a page, which the reader has selected.
    private let frame: Int?
    private let branches: [Branch]
    private let memory: EncodingMemory
    private let placeholders: ImageConverter.Placeholders
    /// The image of at most 100 × 100 pixels from which the placeholders are made.
    private let reduced = PixelRowCollector()
    private var damage: ImageDamage?
    /// Whether the result tells what the variants lose.
    private var describes = true

    /// Opens an image.
    ///
    /// - Parameters:
    ///   - converter: The converter, whose properties apply to all variants.
    ///   - data: The encoded image.
    ///   - variants: The variants.
    ///   - placeholders: The placeholders to make of the image. Default: none.
    ///   - output: A closure that receives the bytes of the only variant in pieces, which are then not kept. Default:
    ///     nil.
    /// - Throws: `ImageDecodingError`, and `ImageProcessingError` if the image does not have the converter's frame.
    init(
        _ converter: ImageConverter, _ data: Data, to variants: [ImageConverter.Variant],
        placeholders: ImageConverter.Placeholders = [], output: ((RawSpan) throws -> Void)? = nil
    ) throws {
        self.converter = converter
        self.placeholders = placeholders
        reader =
            if let page = converter.frame {
                try converter.codecs.open(data, page: page, limits: converter.limits)
            } else {
                try converter.codecs.open(data, limits: converter.limits)
            }
        let info = try reader.info()
        self.info = info
        frame = info.pageCount > 1 ? nil : converter.frame
        if let frame { try Self.check(frame, frameCount: info.frameCount) }
        memory = EncodingMemory(limit: converter.maximumEncodingByteCount)
        branches = variants.enumerated().map { Branch($1, at: $0, of: info, by: converter, output) }
    }

    // MARK: Passes

    /// Makes the variants and the placeholders.
    ///
    /// - Parameter describes: Whether the result tells the losses and the number of frames of each variant, for which
    ///   the encoded bytes are inspected. Default: true.
    /// - Throws: The errors of decoding, processing and encoding, and `CancellationError` whenever the work of the
    ///   thread is canceled before the end.
    func run(describes: Bool = true) throws -> ConvertedImages {
        self.describes = describes
        do {
            for group in groups {
                // Codecs check this while they work, but not before.
                try Self.checkCancellation()
                try isStill ? convertRows(to: group) : convertFrames(to: group)
            }
            var result = ConvertedImages(
                variants: branches.map { $0.result(of: info, by: converter, describes: describes) }, source: info,
                damage: damage)
            if let image = reduced.image {
                if placeholders.contains(.blurHash) { result.blurHash = try BlurHash(image).text }
                if placeholders.contains(.thumbHash) { result.thumbHash = try ThumbHash(image).bytes }
                if placeholders.contains(.dominantColor) { result.dominantColor = try image.dominantColor() }
            }
            try Self.checkCancellation()
            return result
        } catch {
            // A codec that is interrupted throws an error of its own.
            try Self.checkCancellation()
            throw error
        }
    }

    fileprivate static func checkCancellation() throws {
        if BlockingExecutor.isWorkCanceled { throw CancellationError() }
    }

    /// Returns the maximum number of bytes that the pass holds at once, without the encoded source.
    ///
    /// - Throws: `ImageDecodingError` `exceedsLimit` if they exceed `limit`.
    func byteCount(limit: Int) throws -> Int {
        memory.isMeasured = true
        defer { memory.isMeasured = false }
        var largest = 0
        for group in groups {
            let options = options(for: group)
            let consumer = isStill ? rows(into: group, options) : measuredFrames(of: group, options)
            // Decoding an image whose bytes cannot be counted fails, or stays within this limit.
            let byteCount =
                (try? reader.decodingByteCount(options, into: consumer)) ?? options.limits.maximumByteCount
            try reader.check(byteCount, options, limit: limit, named: "maximumDecodingByteCount")
            largest = max(largest, byteCount)
        }
        return largest
    }

    /// Whether the variants are still images.
    private var isStill: Bool { info.frameCount == 1 || frame != nil }

    /// Throws `invalidParameter` for the index of a frame that an animation does not have.
    private static func check(_ frame: Int, frameCount: Int) throws(ImageProcessingError) {
        guard (0..<frameCount).contains(frame) else {
            throw ImageProcessingError(
                .invalidParameter, "the image has no frame \(frame); the last frame is \(frameCount - 1)")
        }
    }

    /// The variants that are made of one decode. An image with more than 8 bits per sample, or in high dynamic range,
    /// is decoded once for the formats that hold them and once for the others, because the decoder reduces the samples.
    private var groups: [[Branch]] {
        let isExact = info.exactFormat.isDeep || converter.dynamicRange == .high
        let groups = [branches.filter { !$0.isShallow }, branches.filter(\.isShallow)].filter { !$0.isEmpty }
        return isExact && groups.count == 2 ? groups : [branches]
    }

    /// Whether the placeholders are made in the pass of a group: once, and preferably with the formats of 8 bits.
    private func makesPlaceholders(with group: [Branch]) -> Bool {
        !placeholders.isEmpty && group.last?.index == groups.last?.last?.index
    }

    private func convertRows(to group: [Branch]) throws {
        let options = options(for: group)
        let consumer = rows(into: group, options)
        try reader.checkMemory(options, into: consumer)
        // Rows that were passed on cannot be taken back, so a partial image is decoded as a whole.
        let found =
            try options.allowsPartial || options.includesAnimation
            ? decodedImage(options).sendRows(to: consumer)
            : reader.decodeRows(options, into: consumer)
        damage = .worst(damage, found)
    }

    /// Decodes the still image, or the frame of the converter.
    private func decodedImage(_ options: DecodingOptions) throws -> DecodedImage {
        var image = try reader.decode(options)
        guard options.includesAnimation, let frame else { return image }
        let frames = image.frames
        // A damaged animation has fewer frames than its header says.
        try Self.check(frame, frameCount: frames?.frameCount ?? 1)
        guard let frames else { return image }
        image.pixels = try frames.frame(at: frame)
        image.frames = nil
        image.damage = .worst(image.damage, frames.damage)
        return image
    }

    private func convertFrames(to group: [Branch]) throws {
        let options = options(for: group)
        let processed = group.filter { !$0.processors.isEmpty }.map { branch in
            colorConverted(options, branch.processed(into: PixelRowCollector()))
        }
        try reader.checkMemory(options, into: processed.isEmpty ? nil : RowFork(to: processed))
        var image = try reader.decode(options)
        if let frames = image.frames { image.frames = CancelableFrames(source: frames) }
        if makesPlaceholders(with: group) {
            var first = image
            first.frames = nil
            try first.sendRows(to: placeholderRows)
        }
        let plan = ColorConversionPlan(
            image.rowHeader, to: converter.colorSpace, range: options.dynamicRange, by: Self.colorConverter)
        image = plan.applied(to: image, by: Self.colorConverter, converter.colorSpace)
        for branch in group { try branch.encode(image, by: converter, memory, findsAlpha: describes) }
        // The damage of later frames is known after they were read.
        damage = .worst(damage, .worst(image.damage, image.frames?.damage))
    }

    // MARK: Chains of rows

    private static let colorConverter = LittleCMSColorConverter()

    private func colorConverted(
        _ options: DecodingOptions, _ next: any PixelRowConsumer
    ) -> any PixelRowConsumer {
        ColorConvertedRows(
            to: converter.colorSpace, range: options.dynamicRange, by: Self.colorConverter, next: next)
    }

    /// Returns the consumer of the rows of a still image for the variants of a group.
    private func rows(into group: [Branch], _ options: DecodingOptions) -> any PixelRowConsumer {
        var consumers: [any PixelRowConsumer] = group.map { branch in
            let rows = branch.encodedRows(of: info, by: converter, memory, findsAlpha: describes)
            return colorConverted(options, branch.processed(into: rows))
        }
        if makesPlaceholders(with: group) { consumers.append(placeholderRows) }
        return RowFork(to: consumers)
    }

    /// Returns a consumer that has the memory of the frames of an animation, of the processors of one frame, and of
    /// the encoders.
    private func measuredFrames(of group: [Branch], _ options: DecodingOptions) -> any PixelRowConsumer {
        RowFork(
            to: group.map { branch in
                let frames = MeasuredFrames(by: branch.encoder, frameCount: info.frameCount)
                return colorConverted(options, branch.processed(into: frames))
            })
    }

    private var placeholderRows: any PixelRowConsumer {
        ColorConvertedRows(
            to: .sRGB, range: .standard, by: Self.colorConverter, next: Self.placeholderResize.rows(into: reduced))
    }

    private static let placeholderResize = ImageProcessors.Resize(to: PixelSize(width: 100, height: 100))

    private func options(for group: [Branch]) -> DecodingOptions {
        var options = DecodingOptions(
            limits: converter.limits, appliesOrientation: converter.appliesOrientation,
            pixelFormat: info.exactFormat, tolerance: converter.tolerance,
            includesAnimation: !isStill || frame ?? 0 > 0)
        options.target = target(for: group)
        // Without a target, this only tells that the rows are passed on.
        options.isFiltered = true
        options.keepsInks = converter.colorSpace != .embedded
        if !converter.keepsDepth || group.allSatisfy(\.isShallow) {
            options.pixelFormat = options.pixelFormat.shallow
        } else {
            options.dynamicRange = converter.dynamicRange
        }
        return options
    }

    /// Returns the target of the variant that needs the largest image; nil if one needs the full size.
    private func target(for group: [Branch]) -> TargetSize? {
        var targets = group.map { $0.processors.first?.decodingTarget }
        if makesPlaceholders(with: group) { targets.append(Self.placeholderResize.decodingTarget) }
        // Decoders expect the size of the upright image.
        let isTurned = !converter.appliesOrientation && info.orientation.swapsSides
        let upright = targets.compactMap { target in
            target.map { isTurned ? TargetSize($0.size.transposed, mode: $0.mode) : $0 }
        }
        guard upright.count == targets.count else { return nil }
        func pixelCount(_ target: TargetSize) -> Int {
            info.uprightSize.scaled(to: target.size, mode: target.mode, enlarging: true).pixelCount
        }
        return upright.max { pixelCount($0) < pixelCount($1) }
    }
}

// MARK: Variants

/// A variant: its encoder, its processors and the encoded bytes.
private final class Branch {
    let index: Int
    /// The encoder with the metadata of the result.
    let encoder: any ImageEncoding
    let processors: [any ImageProcessing]
    private let output: ((RawSpan) throws -> Void)?
    private var data = Data()
    private var size = PixelSize(width: 0, height: 0)
    private var frameCount = 1
    private var losesAlpha = false

    init(
        _ variant: ImageConverter.Variant, at index: Int, of info: ImageInfo, by converter: ImageConverter,
        _ output: ((RawSpan) throws -> Void)?
    ) {
        self.index = index
        self.output = output
        encoder = converter.metadata.encoder(
            variant.encoder, for: info, in: converter.colorSpace, isUpright: converter.appliesOrientation,
            resolution: converter.resolution)
        // When the orientation is not applied, the rows keep their stored order, so the size must match that order.
        let isTurned = !converter.appliesOrientation && info.orientation.swapsSides
        let resize = variant.size.map { ImageProcessors.Resize(to: isTurned ? $0.transposed : $0) }
        // The rows have this size, unless the decoder reduces the image.
        processors = ImageProcessors.CropBeforeResize.joined(
            in: (resize.map { [$0] } ?? []) + variant.processors + converter.processors,
            of: converter.appliesOrientation ? info.uprightSize : info.size)
    }

    /// Whether the format supports only 8-bit samples.
    var isShallow: Bool { !encoder.holdsDeepSamples }

    /// Returns a consumer that processes rows and passes them on.
    func processed(into next: any PixelRowConsumer) -> any PixelRowConsumer {
        processors.reversed().reduce(next) { $1.rows(into: $0) }
    }

    /// Returns a consumer that encodes the rows of a still image. With `findsAlpha`, looks for alpha that is lost.
    func encodedRows(
        of info: ImageInfo, by converter: ImageConverter, _ memory: EncodingMemory, findsAlpha: Bool
    ) -> any PixelRowConsumer {
        let rows = encoder.makeRowEncoder { [self] bytes in
            // An encoder that has kept the rows passes on many pieces at the end.
            try ConversionPass.checkCancellation()
            try memory.check(bytes.byteCount, encoder, size)
            if let output { return try output(bytes) }
            memory.encodedByteCount += bytes.byteCount
            bytes.withUnsafeBytes { data.append(contentsOf: $0) }
        }
        var consumer: any PixelRowConsumer = EncodedRows(by: encoder, memory, next: rows) { [self] header in
            size = header.size
        } onRow: { [self] row, format in
            losesAlpha =
                losesAlpha || findsAlpha && ConversionLoss.losesAlpha(of: row, format, in: encoder.format)
        }
        if !processors.isEmpty, info.isGrayWithAlpha, encoder.format == .png {
            // Only the finished image shows whether the processors kept it gray.
            consumer = WholeImageStage(next: consumer) { image in
                var image = image
                image.storedModel = image.isGrayWithAlpha ? .grayAlpha : nil
                return image
            }
        }
        return MetadataFilteredRows(
            converter.metadata, processors.isEmpty ? info.colorModel : nil, next: consumer)
    }

    /// Processes and encodes an animation, or its first frame. With `findsAlpha`, looks for alpha that is lost.
    func encode(
        _ image: DecodedImage, by converter: ImageConverter, _ memory: EncodingMemory, findsAlpha: Bool
    ) throws {
        var image = image
        for processor in processors { image = try processor.process(image) }
        image.colorProfile = converter.metadata.colorProfile(of: image.colorProfile)
        let limit = max(0, memory.limit - memory.encodedByteCount)
        data = try encoder.encode(image, limit: limit, named: EncodingMemory.limitName)
        memory.encodedByteCount += data.count
        size = image.size
        frameCount = encoder.canEncode(image) ? image.frames?.frameCount ?? 1 : 1
        losesAlpha =
            findsAlpha && image.pixels.hasAlphaSamples
            && (0..<image.pixels.height).contains {
                ConversionLoss.losesAlpha(of: image.pixels.row($0), image.pixels.format, in: encoder.format)
            }
        guard let output else { return }
        try data.withUnsafeBytes { try output($0.bytes) }
        memory.encodedByteCount -= data.count
        data = Data()
    }

    /// Returns the result. With `describes`, inspects the encoded bytes for what they do not preserve.
    func result(of info: ImageInfo, by converter: ImageConverter, describes: Bool) -> ConvertedImage {
        var result = ConvertedImage(
            data: data, format: encoder.format, size: size, frameCount: frameCount, losses: [])
        guard describes else { return result }
        let limits = DecodingLimits(maximumPixelCount: .max)
        let written =
            data.isEmpty
            ? nil
            : (try? CodecRegistry.standard.inspect(data, limits: limits))
                ?? (try? converter.codecs.inspect(data, limits: limits))
        if let written {
            (result.size, result.frameCount) = (written.size, written.frameCount)
            result.losses = ConversionLoss.between(info, written, losesAlpha: losesAlpha)
        } else {
            result.losses = [info.frameCount > 1 && frameCount == 1 ? .animation : nil, losesAlpha ? .alpha : nil]
                .compactMap { $0 }
        }
        return result
    }
}

/// The memory of the encoders of a conversion, and the bytes that they have encoded.
private final class EncodingMemory {
    static let limitName = "ImageConverter.maximumEncodingByteCount"

    /// The maximum number of bytes that are held at once.
    let limit: Int
    /// The bytes that encoders hold between the beginning and the end of their rows.
    var encoderByteCount = 0
    var encodedByteCount = 0
    /// Whether consumers return the memory of encoders, which counts only in a budget that encoders share, and not in
    /// the limits of decoding.
    var isMeasured = false

    init(limit: Int) { self.limit = limit }

    /// Throws `exceedsLimit` if further bytes exceed the limit.
    func check(_ byteCount: Int, _ encoder: any ImageEncoding, _ size: PixelSize) throws(ImageEncodingError) {
        try encoder.check(
            encoderByteCount.addingClamped(encodedByteCount).addingClamped(byteCount), of: size, limit: limit,
            named: Self.limitName)
    }
}

// MARK: Consumers

/// A consumer that passes rows on to several consumers, and ends the decoding when the work is canceled.
private final class RowFork: PixelRowConsumer {
    private let consumers: [any PixelRowConsumer]

    init(to consumers: [any PixelRowConsumer]) { self.consumers = consumers }

    func begin(_ header: PixelRowHeader) throws {
        try ConversionPass.checkCancellation()
        for consumer in consumers { try consumer.begin(header) }
    }

    func consume(_ row: RawSpan) throws {
        try ConversionPass.checkCancellation()
        for consumer in consumers { try consumer.consume(row) }
    }

    func finish() throws {
        for consumer in consumers {
            try ConversionPass.checkCancellation()
            try consumer.finish()
        }
    }

    func byteCount(for header: PixelRowHeader) -> Int {
        consumers.reduce(0) { $0.addingClamped($1.byteCount(for: header)) }
    }
}

/// A consumer that passes rows on to an encoder, if all encoders together hold no more memory than a limit.
private final class EncodedRows: PixelRowConsumer {
    private let encoder: any ImageEncoding
    private let memory: EncodingMemory
    private let next: any PixelRowConsumer
    private let onBegin: (PixelRowHeader) -> Void
    private let onRow: (RawSpan, PixelFormat) -> Void
    private var byteCount = 0
    /// The format of rows whose alpha the format of the file may not hold.
    private var format: PixelFormat?

    init(
        by encoder: any ImageEncoding, _ memory: EncodingMemory, next: any PixelRowConsumer,
        onBegin: @escaping (PixelRowHeader) -> Void, onRow: @escaping (RawSpan, PixelFormat) -> Void
    ) {
        (self.encoder, self.memory, self.next, self.onBegin, self.onRow) = (encoder, memory, next, onBegin, onRow)
    }

    func begin(_ header: PixelRowHeader) throws {
        byteCount = next.byteCount(for: header)
        try memory.check(byteCount, encoder, header.size)
        memory.encoderByteCount += byteCount
        format = header.alphaMode != .opaque && header.format.hasAlpha ? header.format : nil
        onBegin(header)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws {
        try ConversionPass.checkCancellation()
        if let format { onRow(row, format) }
        try next.consume(row)
    }

    func finish() throws {
        try next.finish()
        memory.encoderByteCount -= byteCount
    }

    func byteCount(for header: PixelRowHeader) -> Int { memory.isMeasured ? next.byteCount(for: header) : 0 }
}

/// A consumer that has the memory of an encoder of an animation, and of one processed frame. It receives no rows.
private final class MeasuredFrames: PixelRowConsumer {
    private let encoder: any ImageEncoding
    private let frameCount: Int

    init(by encoder: any ImageEncoding, frameCount: Int) { (self.encoder, self.frameCount) = (encoder, frameCount) }

    func begin(_ header: PixelRowHeader) {}

    func consume(_ row: RawSpan) {}

    func finish() {}

    func byteCount(for header: PixelRowHeader) -> Int {
        PixelRowCollector().byteCount(for: header).addingClamped(
            encoder.encodingByteCount(of: header.size, format: header.format, frameCount: frameCount))
    }
}

/// The frames of an animation, of which none is decoded after the work was canceled.
private final class CancelableFrames: DerivedFrameSource {
    let source: any ImageFrameSource

    init(source: any ImageFrameSource) { self.source = source }

    func frame(at index: Int) throws -> PixelBuffer {
        try ConversionPass.checkCancellation()
        return try source.frame(at: index)
    }
}
