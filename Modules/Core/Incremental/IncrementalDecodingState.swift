package import FoundationEssentials

/// What a codec does to decode incrementally, without a thought for threads. The calls mean what those of
/// ``IncrementalImageDecoding`` mean; ``IncrementalDecoder`` makes them take turns and repeats errors.
package protocol IncrementalDecodingState: AnyObject {
    var info: ImageInfo? { get }
    var decodingByteCount: Int? { get }
    func append(_ bytes: Data) throws(ImageDecodingError)
    func preview() throws(ImageDecodingError) -> ImagePreview?
    func finish() throws(ImageDecodingError) -> DecodedImage
}
