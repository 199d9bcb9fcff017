public import AlcedoCore

/// How large a view shows its picture.
public enum DisplaySize: Sendable, Hashable {
    /// As large as the picture is: requests are loaded as they are.
    case any
    /// Not known yet: loads wait until ``ImageBinder/viewSizeChanged()`` finds a size.
    case pending
    /// In device pixels. A side below one pixel counts as ``pending``: nobody would see the picture.
    case target(TargetSize)
}
