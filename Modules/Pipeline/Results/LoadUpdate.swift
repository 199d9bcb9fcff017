import AlcedoCore

/// What is told of a load before it ends.
enum LoadUpdate: Sendable {
    case progress(DownloadProgress)
    case preview(ImagePreview)
    /// What the caches have, before the source is asked.
    case cached(ImageResponse)
}
