public import AlcedoCore

/// What a view is to show.
public enum DisplayContent: Sendable {
    /// No picture at all.
    case nothing
    /// A stand-in while the picture is on its way.
    case placeholder(DecodedImage)
    /// A stand-in for a picture that could not be loaded.
    case failure(DecodedImage)
    /// The picture that was asked for, in part or coarser, while the rest is on its way.
    case preview(DecodedImage)
    /// The picture that was asked for, and the layer that had it.
    case image(DecodedImage, from: ImageResponse.Layer)

    /// The picture to draw; nil for ``nothing``.
    public var picture: DecodedImage? {
        switch self {
        case .nothing: nil
        case .placeholder(let image), .failure(let image), .preview(let image), .image(let image, from: _): image
        }
    }
}
