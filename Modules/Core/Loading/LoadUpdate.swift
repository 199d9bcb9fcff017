/// What is told of a load before it ends.
public enum LoadUpdate: Sendable {
    /// How far the download is.
    case progress(DownloadProgress)
    /// A picture of what has come, when the request wants them.
    case preview(ImagePreview)
    /// What the caches have, when the request wants to show that first.
    case cached(ImageResponse)
}
