import AlcedoRuntime

#if GTK
    import Alcedo
    import AlcedoProgramSupport

    /// One picture of the gallery.
    struct GalleryItem: Sendable {
        /// What a person calls it, and searches for.
        var name: String
        /// Where it is from, as shown with its details.
        var origin: String
        /// What to load, or why there is nothing that could be loaded.
        var request: Result<ImageRequest, any Error>
        /// The number that the picture itself shows; nil for pictures that are not drawn here.
        var number: Int?
    }

    extension GalleryItem {
        /// A URL or a path, as a person writes it.
        init(named text: String) {
            let image = ImageArgument(text)
            let last = PathParts.last(of: image.name)
            self.init(name: last.isEmpty ? image.name : last, origin: image.name, request: image.request)
        }
    }

    /// The pictures that lines of standard input name, told as the lines come.
    final class InputNames: Sendable {
        /// How many are read at most.
        static let limit = 50_000

        private struct Waiting {
            var items: [GalleryItem] = []
            var isOver = false
            var isTaken = true
        }

        private let waiting = Locked(Waiting())

        /// Reads until the end or the limit, on a thread of its own.
        ///
        /// - Parameter deliver: Gets what has come since the last call, and whether nothing more will.
        func read(_ deliver: @escaping @MainActor ([GalleryItem], _ isOver: Bool) -> Void) {
            LoopThread.start { [self] in
                var count = 0
                while count < Self.limit, let line = readLine() {
                    guard !line.isEmpty else { continue }
                    count += 1
                    let item = GalleryItem(named: line)
                    post(deliver) { $0.items.append(item) }
                }
                post(deliver) { $0.isOver = true }
            }
        }

        /// All that comes until the main actor looks is one call.
        private func post(
            _ deliver: @escaping @MainActor ([GalleryItem], _ isOver: Bool) -> Void, _ change: (inout Waiting) -> Void
        ) {
            let isFirst = waiting.withLock { waiting in
                change(&waiting)
                defer { waiting.isTaken = false }
                return waiting.isTaken
            }
            guard isFirst else { return }
            Task { @MainActor in
                let news = waiting.withLock { waiting in
                    defer { waiting = Waiting() }
                    return waiting
                }
                deliver(news.items, news.isOver)
            }
        }
    }
#endif
