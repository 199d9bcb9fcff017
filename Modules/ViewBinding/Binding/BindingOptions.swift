public import AlcedoCore

/// The images that a view shows while a request loads and after a failure, and the closures that the binder calls.
///
/// ```swift
/// let options = BindingOptions(placeholder: placeholder, onProgress: { print($0.received) })
/// binder.load(request, options: options)
/// ```
///
/// A binder keeps the options while their load runs. If the load fails or the pipeline cancels it, the binder also
/// keeps them for ``ImageBinder/retry(completion:)``. Closures should therefore capture the view weakly.
public struct BindingOptions: Sendable {
    /// The image to show while the requested image loads or waits for the view's size, and for a nil URL. It is not
    /// shown if memory serves the image or the low-resolution image at once. Default: nil, to show nothing.
    public var placeholder: DecodedImage?
    /// The image to show when the load fails and the view does not show a cached image of the request. Default: nil, to
    /// keep the low-resolution image if it is shown, and otherwise to show the placeholder, or nothing if there is no
    /// placeholder. See also ``keepsCurrentImage``.
    public var failureImage: DecodedImage?
    /// Whether the view keeps its content until a preview, the low-resolution image or the image of the new request is
    /// available, and after a failure unless there is a failure image. Default: false, so that no view shows the image
    /// of another request.
    ///
    /// The view keeps what an earlier request has left: its image, its placeholder or its failure image. The
    /// placeholder of the new request is then shown only in an empty view. The content is removed for a nil URL.
    public var keepsCurrentImage: Bool
    /// A second request, whose image is shown as ``DisplayContent/preview(_:)`` until the main image is available.
    /// Default: nil.
    ///
    /// It is not used if memory serves the main image. If the low-resolution image is in memory, it is shown instead of
    /// the placeholder. Otherwise the second request is loaded in parallel, unchanged: the view's size is not applied.
    /// A failure of this load has no effect. The load is canceled when the load of the main request ends.
    public var lowResolution: ImageRequest?
    /// Whether a request without a size of its own is resized to that of the view. Default: true.
    public var usesViewSize: Bool
    /// Whether the view may use a transition to show an image that did not come from the memory cache. Default: true.
    public var usesTransition: Bool
    /// A closure that receives the progress of the download, in addition to the view. Default: nil.
    public var onProgress: (@MainActor (DownloadProgress) -> Void)?
    /// A closure that shows the image. Default: nil, so that the view shows the image.
    ///
    /// The binder passes the image to this closure and not to the view. This applies to an image from memory, to a
    /// cached image that is shown before the source is checked, and to the final image. The view still receives
    /// placeholders, previews and failure images.
    public var onImage: (@MainActor (ImageResponse) -> Void)?

    /// Creates options. By default, they contain no images and no closures. The parameters are the properties of the
    /// same names.
    public init(
        placeholder: DecodedImage? = nil, failureImage: DecodedImage? = nil, keepsCurrentImage: Bool = false,
        lowResolution: ImageRequest? = nil, usesViewSize: Bool = true, usesTransition: Bool = true,
        onProgress: (@MainActor (DownloadProgress) -> Void)? = nil,
        onImage: (@MainActor (ImageResponse) -> Void)? = nil
    ) {
        self.placeholder = placeholder
        self.failureImage = failureImage
        self.keepsCurrentImage = keepsCurrentImage
        self.lowResolution = lowResolution
        self.usesViewSize = usesViewSize
        self.usesTransition = usesTransition
        self.onProgress = onProgress
        self.onImage = onImage
    }
}

extension BindingOptions {
    var placeholders: BindingState.Placeholders {
        BindingState.Placeholders(
            hasPlaceholder: placeholder != nil, hasFailureImage: failureImage != nil,
            keepsCurrentImage: keepsCurrentImage, hasLowResolution: lowResolution != nil)
    }
}
