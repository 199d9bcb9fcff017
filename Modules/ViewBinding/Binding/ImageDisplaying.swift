/// A view that can show one picture.
///
/// A reference type, because an ``ImageBinder`` holds its view weakly: the view, or whatever owns it, owns the binder.
@MainActor public protocol ImageDisplaying: AnyObject, Sendable {
    /// Shows `content` in place of what was shown before. Must not block.
    func display(_ content: DisplayContent)
}
