/// What becomes of a frame's rectangle before the next frame is drawn.
package enum FrameDisposal: Sendable, Hashable {
    /// It stays.
    case keep
    /// It becomes transparent black.
    case clear
    /// It becomes what it was before the frame was drawn.
    case restore
}
