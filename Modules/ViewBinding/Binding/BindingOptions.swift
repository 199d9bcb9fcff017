public import AlcedoCore

/// What a view shows until its picture is there, and when it will not come.
///
/// A binder keeps the options while their load runs, and after a failure, for ``ImageBinder/retry(completion:)``: let the
/// closures hold the view weakly.
public struct BindingOptions: Sendable {
    package var placeholder: DecodedImage?
    package var failureImage: DecodedImage?
    package var keepsCurrentImage: Bool
    package var lowResolution: ImageRequest?
    package var usesViewSize: Bool
    package var usesTransition: Bool
    package var onProgress: (@MainActor (DownloadProgress) -> Void)?
    package var onImage: (@MainActor (ImageResponse) -> Void)?

    /// Creates options that by default show nothing beside the image.
    ///
    /// - Parameters:
    ///   - placeholder: Shown while the image loads, and for a nil URL. Never shown when the image is in memory. nil, the
    ///     default: nothing is shown.
    ///   - failureImage: Shown when the load fails and no older response of the caches is on screen. nil, the default: the
    ///     placeholder or the low-resolution image stays, or nothing is shown when there is neither.
    ///   - keepsCurrentImage: Whether a view without a placeholder keeps its old image until the new one is there. The old
    ///     image does not outlast a failure, and a nil URL clears it. Default: false, so that no view shows the image of
    ///     another request.
    ///   - lowResolution: A request that is loaded beside the other and shown until that is there, as
    ///     ``DisplayContent/preview(_:)``; in place of the placeholder when it is in memory. Loaded as it is: the view's size
    ///     is not used. Its failure changes nothing, and it ends with the load of the request. Default: nil.
    ///   - usesViewSize: Whether a request without a target size gets that of the view. Default: true.
    ///   - usesTransition: Whether the view may show an image that was not in memory in a transition of its own.
    ///     Default: true.
    ///   - onProgress: Gets the progress of the download, as the view does. Default: nil.
    ///   - onImage: Gets the image in place of the view, and has to show it: from memory, from the caches when the request
    ///     shows them first, and the one that ends the load. Placeholders, previews and failure images still go to the
    ///     view. nil, the default: the view shows the image.
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
