public import AlcedoCore
import AlcedoProcessing

/// A view that shows one image.
///
/// ```swift
/// @MainActor final class Thumbnail: ImageDisplaying {
///     private(set) var image: DecodedImage?
///
///     func display(_ content: DisplayContent) { image = content.image }
/// }
/// ```
///
/// Conforming types are classes, because an ``ImageBinder`` holds its view weakly. The view, or its owner, owns the
/// binder. Only ``display(_:)`` is required; the other members have defaults.
@MainActor public protocol ImageDisplaying: AnyObject, Sendable {
    /// Replaces the current content with `content` immediately. Must not block.
    func display(_ content: DisplayContent)

    /// Replaces the current content with `content`, with a transition of the view's choice, such as a fade.
    ///
    /// Called only for images that did not come from the memory cache, and only if `usesTransition` of the
    /// ``BindingOptions`` is true. Default: calls ``display(_:)``.
    func transition(to content: DisplayContent)

    /// The size at which the view shows its image, so that images are not decoded larger than needed. Default:
    /// ``DisplaySize/any``.
    var displaySize: DisplaySize { get }

    /// Calls a handler whenever ``displaySize`` has changed, until another handler replaces it. The binder of the view
    /// passes one when it is created, so that loads which wait for the size begin. Default: does nothing; the owner of
    /// the view then calls ``ImageBinder/viewSizeChanged()``.
    func observeDisplaySize(_ handler: @escaping @MainActor () -> Void)

    /// Shows or hides an activity indicator, such as a spinner.
    ///
    /// Called with true when a load begins or waits for the view's size, and with false when it ends. Called only when
    /// the value changes, and not for a load that memory alone serves at once. Default: does nothing.
    func showActivity(_ isActive: Bool)

    /// Shows the progress of the download. Steps are skipped when they arrive faster than the main actor handles them.
    ///
    /// Called with zero of an unknown number of bytes when another load replaces one whose progress was shown. Default:
    /// does nothing.
    func showProgress(_ progress: DownloadProgress)
}

extension ImageDisplaying {
    /// Calls ``display(_:)``, without a transition.
    public func transition(to content: DisplayContent) { display(content) }

    /// The default size, ``DisplaySize/any``: requests are loaded unchanged.
    public var displaySize: DisplaySize { .any }

    /// Does nothing.
    public func observeDisplaySize(_ handler: @escaping @MainActor () -> Void) {}

    /// Does nothing.
    public func showActivity(_ isActive: Bool) {}

    /// Does nothing.
    public func showProgress(_ progress: DownloadProgress) {}
}

extension ImageDisplaying {
    /// Returns the request with a resize to the view's size before its processors, if the options and the request leave
    /// the size to the view. Returns nil if that size is not known yet. In all other cases, and if the view has no size
    /// (``DisplaySize/any``), returns the request itself.
    ///
    /// A request with a target, or whose first processor sets a size, has its own size.
    func sized(_ request: ImageRequest, _ options: BindingOptions) -> ImageRequest? {
        guard options.usesViewSize, request.decoding.target == nil, request.processors.first?.decodingTarget == nil
        else { return request }
        switch displaySize {
        case .any: return request
        case .target(let target) where target.size.isPositive:
            var sized = request
            let resize: any ImageProcessing =
                target.mode == .fit ? .resize(fitting: target.size) : .resize(filling: target.size)
            sized.processors.insert(resize, at: 0)
            sized.viewTarget = target
            return sized
        case .pending, .target: return nil
        }
    }
}

/// The content of a view.
public enum DisplayContent: Sendable {
    /// No image.
    case nothing
    /// The placeholder, shown while the image loads and for a nil URL. Also shown after a failure, unless the failure
    /// image, the low-resolution image or a cached image is shown then.
    case placeholder(DecodedImage)
    /// The failure image, shown when the image could not be loaded.
    case failure(DecodedImage)
    /// An incomplete or low-resolution version of the requested image, shown until the image is available.
    case preview(DecodedImage)
    /// The requested image, and the layer that it was loaded from.
    case image(DecodedImage, from: ImageResponse.Layer)

    /// The image to draw; nil for ``nothing``.
    public var image: DecodedImage? {
        switch self {
        case .nothing: nil
        case .placeholder(let image), .failure(let image), .preview(let image), .image(let image, from: _): image
        }
    }
}

/// The size at which a view shows its image.
public enum DisplaySize: Sendable, Hashable {
    /// No size. Requests are loaded unchanged.
    case any
    /// A size that is not known yet. Loads that need it wait until ``ImageBinder/viewSizeChanged()`` finds a size.
    case pending
    /// A size in device pixels. A size with a side below one pixel is treated as ``pending``, because no image would be
    /// visible.
    case target(TargetSize)
}
