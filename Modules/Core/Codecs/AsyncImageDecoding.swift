public import FoundationEssentials

/// A decoder that waits for a result that is made elsewhere, such as by a service or a graphics processor.
///
/// ```swift
/// let photos = CodecRegistry.Entry(
///     format: ImageFormat(rawValue: "photo"), asyncDecoder: MyAsyncDecoder(), signatures: [Array("PHO1".utf8)])
/// configuration.codecs = CodecRegistry.standard.adding(photos)
/// ```
///
/// A pipeline awaits ``decode(_:options:priority:)`` in a task, so that it holds no thread of synchronous decoders. The
/// memory counts in the pipeline's budget of decodes until the image has been decoded and processed. The number of
/// concurrent decodes is limited only by this budget: a service that accepts fewer has a queue in its decoder.
///
/// Only pipelines and their disk caches wait for a decoder. All other callers of a registry are synchronous, such as
/// `CodecRegistry.decode`, `decodeRows`, `ImageConverter`, previews, the tool and the workers of a sandbox. They use
/// the ``CodecRegistry/Entry/decoder`` of the entry.
public protocol AsyncImageDecoding: Sendable {
    /// Returns the properties of an image. Reads the header only, on a thread of the pipeline, and does not wait for
    /// the service.
    ///
    /// If only the service can read the size, the size of the result is zero. The decode then counts in the memory
    /// budget with ``DecodingLimits/maximumByteCount``, or with the whole budget if that is less.
    ///
    /// - Throws: ``ImageDecodingError`` when no image can be decoded from the data.
    func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo

    /// Returns the maximum number of bytes that decoding holds at once in this process, without the encoded file.
    ///
    /// Default: the bytes of the full-size image in the requested format, plus those of the upright image when the
    /// orientation must be applied.
    func decodingByteCount(_ info: ImageInfo, options: DecodingOptions) -> Int

    /// Decodes an image, following the options as ``ImageReading/decode(_:)`` does.
    ///
    /// The call must not block its thread, nor load images by the pipeline that waits for it. It ends early when its
    /// task is canceled. Until it returns, its memory counts in the budget. A service may never respond: a pipeline
    /// or an `ImageCache` cancels the call after its `asyncCodecTimeout`, by default 60 seconds, and does not wait for
    /// its end.
    ///
    /// - Parameters:
    ///   - data: The encoded image.
    ///   - options: The options of the request.
    ///   - priority: The priority of the load, which can change meanwhile: the highest of those that wait for the
    ///     image.
    /// - Throws: ``ImageDecodingError``, or any other error, which the pipeline treats as `decoderUnavailable`. The
    ///   bytes are then not considered damaged. If the task is canceled, the load throws `CancellationError` whatever
    ///   this call throws.
    func decode(
        _ data: Data, options: DecodingOptions, priority: PriorityHandle
    ) async throws -> DecodedImage
}

extension AsyncImageDecoding {
    /// Returns the bytes of the full-size image in the requested format, plus those of the upright image when the
    /// orientation must be applied.
    public func decodingByteCount(_ info: ImageInfo, options: DecodingOptions) -> Int {
        ImageHeader(info).decodingByteCount(options)
    }
}

extension CodecRegistry.Entry {
    /// Creates an entry for a format that only an asynchronous decoder decodes.
    ///
    /// Its synchronous ``decoder`` reads the properties of an image, and throws ``ImageDecodingError``
    /// `decoderUnavailable` when it is asked for pixels. A format with decoders of both kinds has a synchronous entry
    /// whose ``asyncDecoder`` is set.
    ///
    /// - Parameters:
    ///   - format: The format's name.
    ///   - asyncDecoder: The decoder of the format.
    ///   - signatures: The byte sequences that files of the format begin with; nil stands for any byte. Default: none.
    ///   - recognizes: A closure that receives the first bytes of a file, at most 64, and returns whether the file has
    ///     the format. With nil, a file has the format when it begins with one of the signatures. Default: nil.
    ///   - makeAsyncEncoder: A closure that creates an encoder of the format for a quality from 0 to 1. Pass nil when
    ///     the format cannot be written. Default: nil.
    public init(
        format: ImageFormat,
        asyncDecoder: any AsyncImageDecoding,
        signatures: [[UInt8?]] = [],
        recognizes: (@Sendable (_ prefix: RawSpan) -> Bool)? = nil,
        makeAsyncEncoder: (@Sendable (_ quality: Double) -> any AsyncImageEncoding)? = nil
    ) {
        self.init(
            format: format, decoder: HeaderDecoder(asyncDecoder), signatures: signatures, recognizes: recognizes)
        self.asyncDecoder = asyncDecoder
        self.makeAsyncEncoder = makeAsyncEncoder
    }
}

extension CodecRegistry {
    /// Returns the asynchronous decoder of the first entry that recognizes the content. Returns nil when that entry has
    /// none, and when no entry recognizes the content.
    public func asyncDecoder(for data: Data) -> (any AsyncImageDecoding)? {
        hasAsyncCodecs ? entry(for: data)?.asyncDecoder : nil
    }

    /// Returns an asynchronous encoder for a format, or nil when no entry has one.
    ///
    /// - Parameters:
    ///   - format: The format to write.
    ///   - quality: The quality from 0 to 1. Values outside this range are clamped; NaN counts as 0. Default: 1.
    public func asyncEncoder(for format: ImageFormat, quality: Double = 1) -> (any AsyncImageEncoding)? {
        let make = entries.lazy.filter { $0.format == format }.compactMap(\.makeAsyncEncoder).first
        return make?(quality > 0 ? min(quality, 1) : 0)
    }
}

/// The synchronous part of an asynchronous decoder: it reads headers, and decodes nothing.
package struct HeaderDecoder: ImageDecoding {
    private let decoder: any AsyncImageDecoding

    package init(_ decoder: any AsyncImageDecoding) { self.decoder = decoder }

    package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        Reader(decoder, try decoder.inspect(data, limits: limits))
    }

    private final class Reader: ImageReading {
        private let decoder: any AsyncImageDecoding
        private let properties: ImageInfo

        init(_ decoder: any AsyncImageDecoding, _ info: ImageInfo) { (self.decoder, properties) = (decoder, info) }

        var header: ImageHeader { ImageHeader(properties) }

        func info() throws(ImageDecodingError) -> ImageInfo { properties }

        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            decoder.decodingByteCount(properties, options: options)
        }

        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            throw ImageDecodingError(
                .decoderUnavailable,
                "\(properties.format): the codec only has an asynchronous decoder; load the image by an ImagePipeline, "
                    + "or register an entry with a synchronous decoder")
        }
    }
}
