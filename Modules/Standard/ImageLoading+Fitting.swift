public import AlcedoCore
import AlcedoProcessing
public import FoundationEssentials

extension ImageLoading {
    /// Loads the image of a URL, and scales it down if it exceeds `size`.
    ///
    /// ```swift
    /// let thumbnail = try await pipeline.image(for: url, fitting: PixelSize(width: 320, height: 320))
    /// ```
    ///
    /// The aspect ratio is kept and the image is never enlarged. The image is filtered while it is decoded, so that the
    /// whole image is normally not in memory.
    ///
    /// - Throws: The errors of ``/AlcedoCore/ImageLoading/load(_:priority:onUpdate:)``. A side of `size` below one
    ///   pixel causes a processing error.
    public func image(for url: URL, fitting size: PixelSize) async throws -> DecodedImage {
        try await image(for: ImageRequest(url: url), fitting: size)
    }

    /// Loads the image of a request, applies the request's processors, and scales the result down if it exceeds `size`.
    ///
    /// The aspect ratio is kept and the image is never enlarged.
    ///
    /// - Throws: The errors of ``/AlcedoCore/ImageLoading/load(_:priority:onUpdate:)``. A side of `size` below one
    ///   pixel causes a processing error.
    public func image(for request: ImageRequest, fitting size: PixelSize) async throws -> DecodedImage {
        var request = request
        request.processors.append(.resize(fitting: size))
        return try await image(for: request)
    }
}
