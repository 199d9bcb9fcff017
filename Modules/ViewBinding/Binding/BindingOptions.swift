public import AlcedoCore

/// What a view shows until its picture is there, and when it will not come.
///
/// A binder keeps the options while their load runs, and after a failure, for ``ImageBinder/retry(completion:)``: let the
/// closures hold the view weakly.
public struct BindingOptions: Sendable {
    /// Shown while the picture loads, and for a nil request. Never shown when the picture is in memory. nil: nothing
    /// is shown.
    public var placeholder: DecodedImage?
    /// Shown when the load fails and there is no older answer of the caches on screen. nil: the placeholder or the
    /// low-resolution picture stays, or nothing is shown when there is neither.
    public var failureImage: DecodedImage?
    /// Whether a view without a placeholder keeps its old picture until the new one is there. It does not outlast a
    /// failure, and a nil request clears it. Default: false, so that no view shows another request's picture.
    public var keepsCurrentImage: Bool
    /// Loaded beside the request and shown until that is there, as ``DisplayContent/preview(_:)``; in place of the
    /// placeholder when it is in memory. Loaded as it is: the view's size is not asked. Its failure changes nothing, and
    /// it ends with the load of the request. nil: nothing.
    public var lowResolution: ImageRequest?
    /// Whether a request without a target size gets that of the view. Default: true.
    public var usesViewSize: Bool
    /// Whether the view may show an image that was not in memory in a transition of its own. Default: true.
    public var usesTransition: Bool
    /// Told how far the image is, as the view is. nil: nobody.
    public var onProgress: (@MainActor (DownloadProgress) -> Void)?
    /// Gets the image in place of the view, and has to show it: from memory, of the caches when the request shows them
    /// first, and the one that ends the load. Placeholders, previews and failure images still go to the view. nil: the
    /// view shows the image.
    public var onImage: (@MainActor (ImageResponse) -> Void)?

    /// What a view shows beside its picture; by default nothing.
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
    var look: BindingState.Look {
        BindingState.Look(
            hasPlaceholder: placeholder != nil, hasFailureImage: failureImage != nil,
            keepsCurrentImage: keepsCurrentImage, hasLowResolution: lowResolution != nil)
    }
}
