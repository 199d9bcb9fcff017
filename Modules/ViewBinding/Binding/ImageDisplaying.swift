public import AlcedoCore

/// A view that can show one picture.
///
/// A reference type, because an ``ImageBinder`` holds its view weakly: the view, or whatever owns it, owns the binder.
/// One function is enough; the rest has defaults.
@MainActor public protocol ImageDisplaying: AnyObject, Sendable {
    /// Shows `content` in place of what was shown before, at once. Must not block.
    func display(_ content: DisplayContent)

    /// Shows `content` in place of what was shown before, in a transition of the view's choice, such as a fade. Only
    /// pictures that come later than the request and not from memory are shown this way, and only if
    /// `usesTransition` of the ``BindingOptions`` is true. Default: ``display(_:)``.
    func transition(to content: DisplayContent)

    /// How large the view shows its picture, so that no more is decoded. Default: ``DisplaySize/any``.
    var displaySize: DisplaySize { get }

    /// An image begins to be on its way, or no longer is: for a spinner. Called only when that changes, never for an
    /// image in memory. Default: does nothing.
    func showActivity(_ isActive: Bool)

    /// How far the image is. Not for each step, when they come faster than the main actor takes them. Default: does
    /// nothing.
    func showProgress(_ progress: DownloadProgress)
}

extension ImageDisplaying {
    public func transition(to content: DisplayContent) { display(content) }

    public var displaySize: DisplaySize { .any }

    public func showActivity(_ isActive: Bool) {}

    public func showProgress(_ progress: DownloadProgress) {}
}

extension ImageDisplaying {
    /// The request at the view's size, where the options and the request leave that to the view; nil when the size is not
    /// known yet.
    func sized(_ request: ImageRequest, _ options: BindingOptions) -> ImageRequest? {
        guard options.usesViewSize, request.decoding.target == nil else { return request }
        switch displaySize {
        case .any: return request
        case .target(let target) where target.size.isPositive:
            var sized = request
            sized.decoding.target = target
            return sized
        case .pending, .target: return nil
        }
    }
}

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

    /// The image to draw; nil for ``nothing``.
    public var image: DecodedImage? {
        switch self {
        case .nothing: nil
        case .placeholder(let image), .failure(let image), .preview(let image), .image(let image, from: _): image
        }
    }
}

/// How large a view shows its picture.
public enum DisplaySize: Sendable, Hashable {
    /// As large as the picture is: requests are loaded as they are.
    case any
    /// Not known yet: loads wait until ``ImageBinder/viewSizeChanged()`` finds a size.
    case pending
    /// In device pixels. A side below one pixel counts as ``pending``: nobody would see the picture.
    case target(TargetSize)
}
