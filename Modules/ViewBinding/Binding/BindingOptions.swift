public import AlcedoCore

/// What a view shows until its picture is there, and when it will not come.
public struct BindingOptions: Sendable {
    /// Shown while the picture loads, and for a nil request. Never shown when the picture is in memory. nil: nothing
    /// is shown.
    public var placeholder: DecodedImage?
    /// Shown when the load fails. nil: the placeholder stays, or nothing is shown when there is none.
    public var failureImage: DecodedImage?
    /// Whether a view without a placeholder keeps its old picture until the new one is there. It does not outlast a
    /// failure, and a nil request clears it. Default: false, so that no view shows another request's picture.
    public var keepsCurrentImage: Bool

    public init(
        placeholder: DecodedImage? = nil, failureImage: DecodedImage? = nil, keepsCurrentImage: Bool = false
    ) {
        self.placeholder = placeholder
        self.failureImage = failureImage
        self.keepsCurrentImage = keepsCurrentImage
    }
}
