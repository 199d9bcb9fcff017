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
    /// ``BindingOptions/usesTransition`` says so. Default: ``display(_:)``.
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
