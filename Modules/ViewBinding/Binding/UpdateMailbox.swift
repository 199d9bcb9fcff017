import AlcedoCore

/// Takes what any thread tells of a load to the main actor: of each kind only the last, so that a fast transfer does not
/// keep it busy.
final class UpdateMailbox: Sendable {
    struct News: Sendable {
        enum Picture: Sendable {
            case preview(DecodedImage)
            case cached(ImageResponse)
        }

        var progress: DownloadProgress?
        var picture: Picture?
    }

    private let waiting = Locked<News?>(nil)
    private let deliver: @MainActor (News) -> Void

    init(_ deliver: @escaping @MainActor (News) -> Void) { self.deliver = deliver }

    func post(_ update: LoadUpdate) {
        let isFirst = waiting.withLock { waiting in
            var news = waiting ?? News()
            switch update {
            case .progress(let progress): news.progress = progress
            case .preview(let preview):
                // Less than what the caches have.
                if case .cached = news.picture { break }
                news.picture = .preview(preview.image)
            case .cached(let response): news.picture = .cached(response)
            }
            defer { waiting = news }
            return waiting == nil
        }
        guard isFirst else { return }
        Task { @MainActor in
            guard let news = waiting.withLock({ $0.take() }) else { return }
            deliver(news)
        }
    }
}
