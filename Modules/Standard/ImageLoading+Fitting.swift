public import AlcedoCore
import AlcedoProcessing
public import FoundationEssentials

extension ImageLoading {
    /// Returns the image that `url` names, made smaller where it exceeds `size`, from the nearest layer that has it.
    ///
    /// ```swift
    /// let thumbnail = try await pipeline.image(for: url, fitting: PixelSize(width: 320, height: 320))
    /// ```
    ///
    /// The proportions are kept and the image is never enlarged. A decoder that can decode small does so, which takes less
    /// time and memory than decoding the whole image.
    ///
    /// Throws as ``/AlcedoCore/ImageLoading/load(_:priority:onUpdate:)`` does, also for a side below one pixel.
    public func image(for url: URL, fitting size: PixelSize) async throws -> DecodedImage {
        try await image(for: ImageRequest(url: url), fitting: size)
    }

    /// Returns the image of a request, made smaller where it exceeds `size`, after the processors of the request.
    ///
    /// The proportions are kept and the image is never enlarged. A request without processors is decoded small where the
    /// decoder can.
    ///
    /// Throws as ``/AlcedoCore/ImageLoading/load(_:priority:onUpdate:)`` does, also for a side below one pixel.
    public func image(for request: ImageRequest, fitting size: PixelSize) async throws -> DecodedImage {
        var request = request
        request.processors.append(.resize(fitting: size))
        return try await image(for: request)
    }
}
