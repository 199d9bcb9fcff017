public import AlcedoCore

/// What a task tells. The last one is `finished`, and comes once.
public enum ImageTaskEvent: Sendable {
    /// How far the download is.
    case progress(DownloadProgress)
    /// A picture of what has come, when the request wants them.
    case preview(ImagePreview)
    /// What the caches have, when the request wants to show that first.
    case cached(ImageResponse)
    /// The image, or ``PipelineError`` or `CancellationError`.
    case finished(Result<ImageResponse, any Error>)
}

extension ImageTaskEvent {
    /// Whether both tell the same kind of thing, so that the later one takes the place of the earlier.
    func isSameKind(as other: ImageTaskEvent) -> Bool {
        switch (self, other) {
        case (.progress, .progress), (.preview, .preview), (.cached, .cached), (.finished, .finished): true
        default: false
        }
    }
}
