import AlcedoCore
import AlcedoRuntime

/// A mailbox that carries updates of a load from any thread to the main actor.
///
/// Updates that arrive before the main actor runs are merged into one delivery, so that a fast transfer does not keep
/// the main actor busy. The delivery contains the latest progress and the latest image, except that a preview does not
/// replace a cached image.
final class UpdateMailbox: Sendable {
    struct Updates: Sendable {
        enum Image: Sendable {
            case preview(DecodedImage)
            case cached(ImageResponse)
        }

        var progress: DownloadProgress?
        var image: Image?
    }

    private let waiting = Locked<Updates?>(nil)
    private let deliver: @MainActor (Updates) -> Void

    init(_ deliver: @escaping @MainActor (Updates) -> Void) { self.deliver = deliver }

    func post(_ update: LoadUpdate) {
        let isFirst = waiting.withLock { waiting in
            var updates = waiting ?? Updates()
            switch update {
            case .progress(let progress): updates.progress = progress
            case .preview(let preview):
                // A preview does not replace a cached image.
                if case .cached = updates.image { break }
                updates.image = .preview(preview.image)
            case .cached(let response): updates.image = .cached(response)
            }
            defer { waiting = updates }
            return waiting == nil
        }
        guard isFirst else { return }
        Task { @MainActor in
            guard let updates = waiting.withLock({ $0.take() }) else { return }
            deliver(updates)
        }
    }
}
