public import AlcedoCore

/// What a view is to show.
public enum DisplayContent: Sendable {
    /// No picture at all.
    case nothing
    /// A stand-in while the picture is on its way.
    case placeholder(DecodedImage)
    /// A stand-in for a picture that could not be loaded.
    case failure(DecodedImage)
    /// The picture that was asked for, and the layer that had it: a view that fades pictures in leaves that out for
    /// `.memory`.
    case image(DecodedImage, from: ImageResponse.Layer)

    /// The pixels to draw; nil for ``nothing``.
    public var picture: DecodedImage? {
        switch self {
        case .nothing: nil
        case .placeholder(let image), .failure(let image), .image(let image, from: _): image
        }
    }
}
