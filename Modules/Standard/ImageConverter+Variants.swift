public import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
public import FoundationEssentials

extension ImageConverter {
    /// A form of an image that a conversion makes: its encoder, and the processors that precede it.
    ///
    /// ```swift
    /// let thumbnail = ImageConverter.Variant(.resize(width: 320), .webp(quality: 80))
    /// let large = ImageConverter.Variant(.jpeg(), fitting: PixelSize(width: 2048, height: 2048))
    /// ```
    ///
    /// The processors of the variant run after the resize to ``size``, and before those of the converter. The first of
    /// all decides the size at which the image is decoded (`ImageProcessing.decodingTarget`). So a resize goes first,
    /// or a crop that a resize follows: the image is otherwise decoded at full size.
    public struct Variant: Sendable {
        /// The encoder of the variant.
        public var encoder: any ImageEncoding
        /// The maximum width and height of the displayed variant in pixels, or nil to keep the size. The aspect ratio
        /// is kept, and a smaller image is not enlarged.
        public var size: PixelSize?
        /// The processors of the variant, in order.
        public var processors: [any ImageProcessing]

        /// Creates a variant.
        ///
        /// - Parameters:
        ///   - encoder: The encoder of the variant, such as `.webp(quality: 80)`.
        ///   - size: The maximum width and height of the displayed variant in pixels. Default: nil, the size of the
        ///     source.
        ///   - processors: The processors that run after the resize to `size`, in order. Default: none.
        public init(
            _ encoder: any ImageEncoding, fitting size: PixelSize? = nil, processors: [any ImageProcessing] = []
        ) {
            (self.encoder, self.size, self.processors) = (encoder, size, processors)
        }

        /// Creates a variant with one processor, such as `.resize(width: 320)`.
        public init(_ processor: any ImageProcessing, _ encoder: any ImageEncoding) {
            self.init(encoder, processors: [processor])
        }
    }

    /// The placeholders that a conversion makes of the image in the same pass, as the processors of no variant change
    /// it.
    ///
    /// ```swift
    /// let images = try await ImageConverter().convert(
    ///     upload, to: [.init(.resize(width: 320), .webp())], placeholders: [.blurHash, .dominantColor])
    /// print(images.blurHash ?? "", images.dominantColor as Any)
    /// ```
    public struct Placeholders: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A BlurHash with 4 × 3 components.
        public static let blurHash = Placeholders(rawValue: 1)
        /// A ThumbHash.
        public static let thumbHash = Placeholders(rawValue: 2)
        /// The most frequent color.
        public static let dominantColor = Placeholders(rawValue: 4)
    }

    /// Converts an image to several variants with one decode.
    ///
    /// ```swift
    /// let sizes = [320, 1280]
    /// let images = try await ImageConverter().convert(
    ///     upload, timeout: .seconds(10), to: sizes.map { .init(.resize(width: $0), .webp(quality: 80)) })
    /// ```
    ///
    /// The source is decoded at the size that the largest variant needs, and all variants are filtered from the same
    /// rows. Each is as good as if it were made alone. There are two exceptions: an image with more than 8 bits per
    /// sample, or a converter with the dynamic range `.high`, takes a second decode if formats with and without more
    /// than 8 bits are mixed, and the frames of an animation are decoded for each variant.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - timeout: The maximum duration of the conversion, with its wait in the ``queue``. Default: nil, no limit.
    ///   - variants: The variants, which the result has in the same order. They may be none if only placeholders are
    ///     needed.
    ///   - placeholders: The placeholders to make in the same pass. Default: none.
    /// - Throws: `ImageDecodingError`, `ImageProcessingError` and `ImageEncodingError`, as the method with one encoder
    ///   does; an error of one variant is the error of all. ``ImageConversionError`` `queueFull` at once, and
    ///   `timedOut` after the timeout. `CancellationError` whenever the task is canceled before the end.
    public func convert(
        _ data: Data, timeout: Duration? = nil, to variants: [Variant], placeholders: Placeholders = []
    ) async throws -> ConvertedImages {
        try await limited(timeout) { try await converted(variants, placeholders) { data } }
    }

    /// Converts a file to several variants with one decode, as ``convert(_:timeout:to:placeholders:)`` does.
    ///
    /// The file is read when it is its turn in the ``queue``, and is in memory as long as the conversion runs.
    ///
    /// - Parameters:
    ///   - file: The URL of a regular file.
    ///   - maximumByteCount: The maximum number of bytes of the file. Default: no limit.
    ///   - timeout: The maximum duration of the conversion, with its wait in the ``queue``. Default: nil, no limit.
    ///   - variants: The variants, which the result has in the same order.
    ///   - placeholders: The placeholders to make in the same pass. Default: none.
    /// - Throws: The errors of ``convert(_:timeout:to:placeholders:)``, and ``ImageConversionError`` `unreadableFile`
    ///   and, for a larger file, `inputTooLarge`.
    public func convert(
        contentsOf file: URL, maximumByteCount: Int = .max, timeout: Duration? = nil, to variants: [Variant],
        placeholders: Placeholders = []
    ) async throws -> ConvertedImages {
        try await limited(timeout) {
            try await converted(variants, placeholders) { try Self.bytes(of: file, limit: maximumByteCount) }
        }
    }

    /// Reads an image from a sequence of chunks, and converts it to several variants with one decode, as
    /// ``convert(_:timeout:to:placeholders:)`` does.
    ///
    /// ```swift
    /// func thumbnail(of body: AsyncStream<[UInt8]>) async throws -> ConvertedImage {
    ///     try await ImageConverter().convert(
    ///         body, maximumByteCount: 20 << 20, timeout: .seconds(30), to: [.init(.resize(width: 320), .webp())]
    ///     ).variants[0]
    /// }
    /// ```
    ///
    /// The chunks are any collections of bytes, such as `Data`, `[UInt8]` or `ArraySlice<UInt8>`. A body of
    /// `ByteBuffer` of SwiftNIO is passed as `body.map(\.readableBytesView)`.
    ///
    /// The body is not read if the ``queue`` is full when the call begins. While it is read, the conversion takes no
    /// place in the queue.
    ///
    /// The body is read in a task of its own, which is canceled at the timeout, or when the caller is canceled. The
    /// method then throws at once, even if the body ignores the cancellation. In that case the task keeps the body,
    /// but none of its chunks, until the body returns the next one, ends or throws.
    ///
    /// - Parameters:
    ///   - body: The chunks of the encoded image.
    ///   - maximumByteCount: The maximum number of bytes of all chunks. The first chunk that exceeds it ends the read.
    ///   - timeout: The maximum duration of the read and of the conversion, with its wait in the queue. Default: nil,
    ///     no limit.
    ///   - variants: The variants, which the result has in the same order.
    ///   - placeholders: The placeholders to make in the same pass. Default: none.
    /// - Throws: The errors of ``convert(_:timeout:to:placeholders:)`` and of `body`, and ``ImageConversionError``
    ///   `inputTooLarge`.
    public func convert<Body: AsyncSequence & Sendable>(
        _ body: Body, maximumByteCount: Int, timeout: Duration? = nil, to variants: [Variant],
        placeholders: Placeholders = []
    ) async throws -> ConvertedImages where Body.Element: Collection<UInt8> {
        try await limited(timeout) {
            try queue.checkVacancy()
            let data = try await Self.bytes(of: body, limit: maximumByteCount)
            return try await converted(variants, placeholders) { data }
        }
    }

    /// Converts an image to one variant, whose bytes `output` receives in pieces.
    ///
    /// ```swift
    /// let image = try await ImageConverter().convert(upload, to: .init(.resize(width: 1600), .jpeg())) { chunk in
    ///     print("\(chunk.count) bytes")
    /// }
    /// print(image.size)
    /// ```
    ///
    /// JPEG is passed on while it is encoded, unless it is progressive, optimized or has a thumbnail. So is PNG of more
    /// than 4 MiB of pixels, unless it has a palette or is interlaced. Other formats, animations and results of
    /// `limitingFileSize(to:)` are passed on at the end.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - timeout: The maximum duration of the conversion, with its wait in the ``queue``. Default: nil, no limit.
    ///   - variant: The variant.
    ///   - output: A closure that receives the pieces in order, on the thread of the conversion, which waits for it.
    ///     After an error, it may have received the beginning of a file.
    /// - Returns: The properties of the result, without its bytes.
    /// - Throws: The errors of ``convert(_:timeout:to:placeholders:)`` and of `output`.
    public func convert(
        _ data: Data, timeout: Duration? = nil, to variant: Variant,
        output: @escaping @Sendable (_ chunk: Data) throws -> Void
    ) async throws -> ConvertedImage {
        try await limited(timeout) {
            try await queue.run {
                data
            } _: {
                try ConversionPass(self, $0, to: [variant]) { bytes in
                    try output(bytes.withUnsafeBytes { Data($0) })
                }
            } _: {
                try $0.run().variants[0]
            }
        }
    }

    private func converted(
        _ variants: [Variant], _ placeholders: Placeholders, _ read: @escaping @Sendable () throws -> Data
    ) async throws -> ConvertedImages {
        try await queue.run(read) {
            try ConversionPass(self, $0, to: variants, placeholders: placeholders)
        } _: {
            try $0.run()
        }
    }

    private func limited<Value: Sendable>(
        _ timeout: Duration?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let error = ImageConversionError(
            .timedOut, "the conversion did not end within \(timeout.map { "\($0)" } ?? "its time")")
        return try await clock.limit(timeout, throwing: error, body)
    }

    private static func tooLarge(_ limit: Int) -> ImageConversionError {
        ImageConversionError(.inputTooLarge, "the encoded image exceeds the limit of \(limit) bytes (maximumByteCount)")
    }

    /// The chunks of a body so far.
    private final class Chunks: Sendable {
        /// The bytes; nil when they are no longer awaited.
        let data = Locked<Data?>(Data())
    }

    /// Reads a body in a task of its own, which is left behind on cancellation: a sequence that ignores it may never
    /// return. The task then holds the body alone, and ends with the next chunk.
    private static func bytes<Body: AsyncSequence & Sendable>(
        of body: Body, limit: Int
    ) async throws -> Data where Body.Element: Collection<UInt8> {
        let chunks = Chunks()
        defer { chunks.data.withLock { $0 = nil } }
        // A stream ends at once, and without an error, when the task that awaits it is canceled.
        let end = AsyncThrowingStream<Never, any Error> { end in
            let reading = Task {
                do {
                    for try await chunk in body {
                        try chunks.data.withLock { data in
                            guard let count = data?.count else { throw CancellationError() }
                            guard chunk.count <= limit - count else { throw tooLarge(limit) }
                            data?.append(contentsOf: chunk)
                        }
                    }
                    end.finish()
                } catch {
                    end.finish(throwing: error)
                }
            }
            end.onTermination = { _ in reading.cancel() }
        }
        for try await _ in end {}
        try Task.checkCancellation()
        return chunks.data.withLock { $0.take() } ?? Data()
    }

    private static func bytes(of file: URL, limit: Int) throws -> Data {
        do {
            // A pipe without a writer would block.
            let descriptor = try Descriptor(opening: file.path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            if let size = try descriptor.regularFileSize() {
                guard size.length <= limit else { throw tooLarge(limit) }
                if let bytes = try descriptor.read(size.length) { return bytes.prefix(size.length) }
            }
        } catch let error as SystemError {
            throw ImageConversionError(
                .unreadableFile, "cannot read \(file.path): \(String(cString: strerror(error.number)))")
        }
        throw ImageConversionError(.unreadableFile, "cannot read \(file.path): it is not a regular file, or changes")
    }
}
