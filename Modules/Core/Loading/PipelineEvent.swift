public import AlcedoHTTP

/// A step of a load.
public struct PipelineEvent: Sendable {
    /// The kind of step, with its result.
    public enum Stage: Sendable {
        /// The memory cache had the image. The load then reports no `finished`.
        case memoryHit
        /// The memory cache did not supply the image.
        case memoryMiss(CacheMissReason)
        /// The disk cache had the processed image or the original bytes. `bytes` is the number of encoded bytes that
        /// were read.
        case diskHit(bytes: Int)
        /// The disk cache did not supply the entry.
        case diskMiss(CacheMissReason)
        /// A write to the disk cache failed. This never makes the load fail.
        case diskWriteFailed(any Error)
        /// A server or another source supplied `bytes` bytes. The response source is nil without a response cache.
        case downloaded(bytes: Int, ResponseSource?)
        /// The bytes were decoded to an image of this size.
        case decoded(PixelSize)
        /// The colors of the image were converted to this color space.
        case colorConverted(OutputColorSpace)
        /// The ICC profile of the image is unusable, and the image was treated as sRGB. The load does not fail.
        ///
        /// A profile that does not describe the samples of the file causes no event, because the decoder drops it.
        /// Examples are a gray profile in a file with colors, an RGB profile of a gray PNG, and any profile but one of
        /// inks in a file with inks.
        case colorProfileIgnored(ColorConversionError)
        /// The processor with this identifier changed the image.
        case processed(identifier: String)
        /// The load finished with an image from this layer.
        case finished(ImageResponse.Layer)
        /// The load failed.
        case failed(any Error)
        /// The load was canceled.
        case cancelled
        /// The source of a request failed, and the caller's load continues with one of its
        /// ``ImageRequest/alternativeSources``, whose events have this key.
        case alternative(ImageKey)
    }

    /// The key of the image or of its original bytes.
    public var key: ImageKey
    /// The step.
    public var stage: Stage
    /// The duration of a disk read (a hit or a miss), a download, a decode, a color conversion or a processing step;
    /// zero for all other steps.
    public var duration: Duration

    /// Creates an event. By default, its duration is zero.
    public init(key: ImageKey, stage: Stage, duration: Duration = .zero) {
        self.key = key
        self.stage = stage
        self.duration = duration
    }
}

/// The reason why a cache did not supply an entry.
///
/// For the memory cache, the reasons from `damaged` on tell what the pipeline has stored there itself. It remembers the
/// images of its last 1,024 resources if it has an observer or a tracer. Other caches report the first five reasons and
/// `otherFields`.
public enum CacheMissReason: String, Sendable, Hashable, CaseIterable {
    /// The cache has no entry under the key, and the reason is not known.
    case notStored
    /// The request does not allow reading the cache.
    case notAllowed
    /// The pipeline has no such cache.
    case noCache
    /// The stored entry is not a complete image.
    case damaged
    /// The time to live of the entry is over. For a response cache, the stored response needs the server's
    /// confirmation.
    case expired
    /// The image was stored, and the cache does not have it any more: because of its limits, of a memory pressure or a
    /// time to live of the cache itself.
    case evicted
    /// The cache has the image at other sizes, which are too small for the request.
    case tooSmall
    /// The cache has the image at another size, which would do, but which the request does not accept
    /// (``ImageRequest/acceptsLargerCachedImage``).
    case otherSize
    /// The cache has the image with other processors.
    case otherProcessors
    /// The cache has the image with other decoding options, another color space or another scale.
    case otherOptions
    /// The cache has the image for other values of the request fields by which the responses vary (`Vary`).
    case otherFields
    /// The cache has the image of another version of the local file, or an image that was made of older bytes of the
    /// source than those that are known.
    case otherVersion
}
